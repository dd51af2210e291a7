// Shows what the runtime says. The time is the gateway's: this counts down from what it was told, and decides nothing.
const words = {
  starting: 'Getting ready',
  idle: 'Nothing runs',
  running: 'Focus',
  completed: 'Well done',
  interrupted: 'Interrupted',
  cancelled: 'Stopped',
};

const main = document.querySelector('main');
const ring = document.querySelector('.rest');
const time = document.querySelector('.time');
const word = document.querySelector('.word');

let shown = { phase: 'idle', remaining_ms: 0, total_ms: 0 };
let toldAt = performance.now();

function remaining() {
  const passed = shown.phase === 'running' ? performance.now() - toldAt : 0;
  return Math.max(0, shown.remaining_ms - passed);
}

function draw() {
  const left = remaining();
  const seconds = Math.ceil(left / 1000);
  const hasTime = shown.total_ms > 0;
  const text = hasTime ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}` : '–:––';
  if (time.textContent !== text) time.textContent = text;
  const share = shown.phase === 'completed' ? 1 : hasTime ? left / shown.total_ms : 0;
  ring.style.strokeDashoffset = String(1 - share);
}

LineUpSurface.onState((state) => {
  shown = state;
  toldAt = performance.now();
  main.dataset.phase = state.phase;
  word.textContent = words[state.phase] ?? '';
  draw();
});

setInterval(draw, 250);
draw();
LineUpSurface.resize(380);
