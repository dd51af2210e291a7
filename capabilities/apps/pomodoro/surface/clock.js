// Shows the time that is left, and decides nothing: when a focus begins and ends is the runtime's to say.
(() => {
  const words = {
    en: {
      starting: 'Getting ready',
      idle: 'No focus is running',
      running: 'Focus',
      completed: 'Well done',
      interrupted: 'Stopped early',
      ended: 'Over',
      until: (at) => `until ${at}`,
      of: (minutes) => `${minutes} min of focus`,
      stopped: 'with this much left',
    },
    zh: {
      starting: '正在准备',
      idle: '当前没有专注',
      running: '专注中',
      completed: '专注完成',
      interrupted: '已提前结束',
      ended: '已结束',
      until: (at) => `到 ${at} 结束`,
      of: (minutes) => `专注了 ${minutes} 分钟`,
      stopped: '剩余时间',
    },
  };
  const lang = document.documentElement.lang || 'en';
  const say = lang.startsWith('zh') ? words.zh : words.en;
  const clock = new Intl.DateTimeFormat(lang, { hour: '2-digit', minute: '2-digit' });

  const main = document.querySelector('main');
  const part = (name) => main.querySelector(name);
  const [minutes, seconds, phase, until, left] = ['.minutes', '.seconds', '.phase', '.until', '.left'].map(part);
  const two = (number) => String(number).padStart(2, '0');
  const put = (node, text) => {
    // A word that is the same is not said again.
    if (node.textContent !== text) node.textContent = text;
  };

  let shown = { phase: 'starting', remaining_ms: 0, total_ms: 0 };
  let endsAt = 0;
  let next;

  const draw = () => {
    clearTimeout(next);
    const isRunning = shown.phase === 'running';
    const remaining = isRunning ? Math.max(0, endsAt - Date.now()) : shown.remaining_ms;
    const rest = Math.ceil(remaining / 1000);
    main.dataset.phase = shown.phase;
    put(minutes, two(Math.floor(rest / 60)));
    put(seconds, two(rest % 60));
    left.style.setProperty('--part', shown.total_ms > 0 ? String((1000 * remaining) / shown.total_ms) : '0');
    put(phase, say[shown.phase] ?? say.ended);
    if (isRunning) put(until, say.until(clock.format(endsAt)));
    else if (shown.phase === 'completed') put(until, say.of(Math.round(shown.total_ms / 60000)));
    else put(until, shown.phase === 'interrupted' && rest > 0 ? say.stopped : '');
    // On the full second, so that no number is skipped.
    if (isRunning && remaining > 0) next = setTimeout(draw, remaining % 1000 || 1000);
  };

  LineUpSurface.onState((state) => {
    if (typeof state.phase !== 'string') return;
    shown = { phase: state.phase, remaining_ms: Number(state.remaining_ms) || 0, total_ms: Number(state.total_ms) || 0 };
    endsAt = Date.now() + shown.remaining_ms;
    draw();
  });
  document.addEventListener('visibilitychange', draw);
  new ResizeObserver(() => LineUpSurface.resize(Math.ceil(main.getBoundingClientRect().height))).observe(main);
  draw();
})();
