/** The words of ours around GenUI. */

export const en = {
  illegal: 'This answer cannot be drawn: what it was given is no interface description.',
  unregistered: 'This answer cannot be drawn: no component `{0}` is registered on this page.',
  broken: 'This answer cannot be drawn: component `{0}` failed.',
  running: 'Running {0}…',
  calls: 'Tool calls',
  details: 'Result',
  status_calling: 'running',
  status_completed: 'done',
  status_failed: 'failed',
  noResult: 'No result',
  weather: 'Weather in {0}: {1}',
  celsius: '{0} °C',
  unknownPlace: 'Unknown place',
  adopt: 'Adopt',
  adoptPlan: 'Adopt: {0}',
  noPlans: 'No plans',
};

export type GenuiMessages = typeof en;

export const zh: GenuiMessages = {
  illegal: '无法绘制此答复：给出的内容不是界面描述。',
  unregistered: '无法绘制此答复：此页面没有注册组件 `{0}`。',
  broken: '无法绘制此答复：组件 `{0}` 出错。',
  running: '正在运行 {0}…',
  calls: '工具调用',
  details: '结果',
  status_calling: '运行中',
  status_completed: '完成',
  status_failed: '失败',
  noResult: '没有结果',
  weather: '{0}的天气：{1}',
  celsius: '{0} °C',
  unknownPlace: '未知地点',
  adopt: '采纳',
  adoptPlan: '采纳：{0}',
  noPlans: '没有方案',
};
