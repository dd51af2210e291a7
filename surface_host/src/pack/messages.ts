/** What the pack says to a person; agents' words are shown by the approval dialog, before this. */

const english = {
  lang: 'en',
  oneMore: 'One more click',
  approvedBefore: 'You approved this a moment ago. The browser needs a click of yours to do it now.',
  openUrl: 'Open the page',
  copy: 'Copy the text',
  pickFile: 'Pick a file',
  saveFile: 'Save the file',
  notify: 'Show the notification',
  stop: 'Not now',
};

export type PackMessages = typeof english;

export const en: PackMessages = english;

export const zh: PackMessages = {
  lang: 'zh',
  oneMore: '还需点击一次',
  approvedBefore: '您刚才已批准此操作，浏览器还需要您点击一次才能执行。',
  openUrl: '打开网页',
  copy: '复制文本',
  pickFile: '选择文件',
  saveFile: '保存文件',
  notify: '显示通知',
  stop: '暂不',
};
