/** Every word of the workspace that a person reads; the mini apps' own words never land here. */

const english = {
  lang: 'en',
  workspace: 'Mini apps',
  wantsIn: '{0} wants to show you',
  wantsInNobody: 'A mini app wants to be shown',
  takesPlace: '{0} is left for it.',
  show: 'Show',
  notNow: 'Not now',
  back: 'Back',
  backFrom: 'Back: leave {0}',
  closeApp: 'Close {0}',
  others: 'Open mini apps',
  nothing: 'No mini app is open. When an agent opens one, it appears here.',
  pickOne: 'Choose a mini app to look at.',
  isolated: 'Runs apart from this page',
  generated: 'Agent-generated',
  madeBy: 'made by',
  isLoading: 'Loading…',
  inFront: '{0} is in front',
  wasClosed: '{0} was closed',
  wasLeft: 'You left {0}',
  couldNotOpen: '{0} could not be shown',
};

export type WorkspaceMessages = typeof english;

export const en: WorkspaceMessages = english;

export const zh: WorkspaceMessages = {
  lang: 'zh',
  workspace: '小程序',
  wantsIn: '{0} 想要为您显示',
  wantsInNobody: '有小程序请求显示',
  takesPlace: '将离开当前的{0}。',
  show: '显示',
  notNow: '暂不',
  back: '返回',
  backFrom: '返回并离开{0}',
  closeApp: '关闭{0}',
  others: '已打开的小程序',
  nothing: '当前没有打开的小程序。智能体打开的小程序会显示在这里。',
  pickOne: '请选择要查看的小程序。',
  isolated: '与本页面隔离运行',
  generated: '由智能体生成',
  madeBy: '制作者',
  isLoading: '正在加载…',
  inFront: '{0}已显示在前台',
  wasClosed: '{0}已关闭',
  wasLeft: '您已离开{0}',
  couldNotOpen: '无法显示{0}',
};
