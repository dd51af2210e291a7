// Draws what the state says, and tells what the person draws. Coordinates are those of a picture 1,000 units wide.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  const WIDTH = 1000;
  const STEP = 10;
  // Of one event: the limit is 16,383 bytes with everything around it.
  const PATH_MOST = 12000;
  const PICTURE_MOST = 15000;

  const words = {
    en: {
      name: 'Canvas',
      how: 'Draw with the pointer. By keyboard: arrow keys move the pen, Space puts it down and lifts it.',
      send: 'Send picture',
      sent: 'The picture was sent.',
      large: 'This picture is too large to send.',
      down: 'Pen down',
      up: 'Pen up',
      pens: ['Ink', 'Red', 'Green', 'Blue'],
    },
    zh: {
      name: '画板',
      how: '用指针绘画。键盘操作：方向键移动画笔，空格键落笔或抬笔。',
      send: '发送图画',
      sent: '图画已发送。',
      large: '图画太大，无法发送。',
      down: '落笔',
      up: '抬笔',
      pens: ['墨色', '红色', '绿色', '蓝色'],
    },
  };
  const say = document.documentElement.lang.startsWith('zh') ? words.zh : words.en;
  const PENS = ['currentColor', '#e5484d', '#30a46c', '#3e63dd'];

  const part = (name) => document.querySelector(name);
  const [canvas, theirs, mine, cursor, said] = ['.canvas', '.theirs', '.mine', '.cursor', '.said'].map(part);
  part('#name').textContent = say.name;
  part('#how').textContent = say.how;
  const send = part('.send');
  send.textContent = say.send;

  // ---- what the agent draws: these elements with these attributes, and no others

  const NUMBER = /^-?\d{1,6}(\.\d{1,4})?$/;
  const POINTS = /^[-\d.,\s]{0,12000}$/;
  const COLOUR = /^(#[0-9a-f]{3,8}|[a-z]{1,24}|none|currentColor|rgba?\([\d.,%\s/]{1,40}\)|hsla?\([\d.,%\s/deg]{1,40}\))$/i;
  const PATH = /^[MmLlHhVvCcSsQqTtAaZz\d\s.,eE+-]{0,12000}$/;
  const SHAPES = {
    path: { d: PATH },
    line: { x1: NUMBER, y1: NUMBER, x2: NUMBER, y2: NUMBER },
    rect: { x: NUMBER, y: NUMBER, width: NUMBER, height: NUMBER, rx: NUMBER },
    circle: { cx: NUMBER, cy: NUMBER, r: NUMBER },
    ellipse: { cx: NUMBER, cy: NUMBER, rx: NUMBER, ry: NUMBER },
    polyline: { points: POINTS },
    polygon: { points: POINTS },
    text: { x: NUMBER, y: NUMBER, 'font-size': NUMBER, 'text-anchor': /^(start|middle|end)$/ },
  };
  const STYLE = { fill: COLOUR, stroke: COLOUR, 'stroke-width': NUMBER, opacity: NUMBER };

  const shapeOf = (shape) => {
    const own = typeof shape === 'object' && shape !== null && Object.hasOwn(SHAPES, shape.type) ? SHAPES[shape.type] : undefined;
    if (!own) return null;
    const node = document.createElementNS(SVG, shape.type);
    for (const [name, form] of Object.entries({ ...own, ...STYLE })) {
      const value = Object.hasOwn(shape, name) ? String(shape[name]) : '';
      if (value !== '' && form.test(value)) node.setAttribute(name, value);
    }
    if (shape.type === 'text') node.textContent = String(shape.text ?? '').slice(0, 500);
    return node;
  };

  LineUpSurface.onState(({ shapes, title }) => {
    const known = Array.isArray(shapes) ? shapes.slice(0, 2000) : [];
    theirs.replaceChildren(...known.map(shapeOf).filter(Boolean));
    // What the agent has taken up is the agent's to draw from now on.
    const taken = new Set(known.map((shape) => shape?.id));
    for (const stroke of [...mine.children]) if (taken.has(stroke.dataset.id)) stroke.remove();
    if (typeof title === 'string') part('#name').textContent = title.slice(0, 200);
  });

  // ---- what the person draws

  let pen = 0;
  let count = 0;
  let stroke;

  const pens = part('.pens');
  pens.append(
    ...PENS.map((colour, index) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.style.setProperty('--pen', colour);
      button.setAttribute('aria-label', say.pens[index]);
      button.setAttribute('aria-pressed', String(index === pen));
      button.addEventListener('click', () => {
        pen = index;
        [...pens.children].forEach((other, at) => other.setAttribute('aria-pressed', String(at === pen)));
      });
      return button;
    }),
  );

  const pointOf = ({ clientX, clientY }) => {
    const { left, top, width } = canvas.getBoundingClientRect();
    const scale = WIDTH / width;
    return [Math.round((clientX - left) * scale), Math.round((clientY - top) * scale)];
  };

  const begin = ([x, y]) => {
    const node = document.createElementNS(SVG, 'path');
    count += 1;
    stroke = { node, id: `stroke-${count}`, d: `M${x} ${y}`, last: [x, y] };
    node.dataset.id = stroke.id;
    node.setAttribute('stroke', PENS[pen]);
    node.setAttribute('stroke-width', '4');
    node.setAttribute('d', `${stroke.d}l0 0`);
    mine.append(node);
  };
  const go = ([x, y]) => {
    if (!stroke) return;
    const [fromX, fromY] = stroke.last;
    if (Math.abs(x - fromX) + Math.abs(y - fromY) < 3) return;
    stroke.d += `L${x} ${y}`;
    stroke.last = [x, y];
    stroke.node.setAttribute('d', stroke.d);
    if (stroke.d.length < PATH_MOST) return;
    const at = stroke.last;
    end();
    begin(at);
  };
  const end = () => {
    if (!stroke) return;
    const { id, d } = stroke;
    stroke = undefined;
    LineUpSurface.event('draw', { id, d: d.includes('L') ? d : `${d}l0 0`, stroke: PENS[pen], width: 4 });
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || stroke) return;
    canvas.setPointerCapture(event.pointerId);
    cursor.setAttribute('visibility', 'hidden');
    begin(pointOf(event));
  });
  canvas.addEventListener('pointermove', (event) => {
    const between = event.getCoalescedEvents?.() ?? [];
    for (const each of between.length ? between : [event]) go(pointOf(each));
  });
  for (const type of ['pointerup', 'pointercancel', 'lostpointercapture']) canvas.addEventListener(type, end);

  // ---- by keyboard

  let at = [WIDTH / 2, (WIDTH * 3) / 8];
  const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener('keydown', (event) => {
    const move = MOVES[event.key];
    if (!move && event.key !== ' ') return;
    event.preventDefault();
    if (move) {
      const { width, height } = canvas.viewBox.baseVal;
      const far = event.shiftKey ? 5 * STEP : STEP;
      at = [Math.max(0, Math.min(width, at[0] + move[0] * far)), Math.max(0, Math.min(height, at[1] + move[1] * far))];
      go(at);
    } else if (stroke) end();
    else begin(at);
    said.textContent = event.key === ' ' ? (stroke ? say.down : say.up) : '';
    cursor.classList.toggle('down', stroke !== undefined);
    cursor.setAttribute('visibility', 'visible');
    cursor.setAttribute('transform', `translate(${at[0]} ${at[1]})`);
  });
  canvas.addEventListener('blur', () => {
    end();
    cursor.setAttribute('visibility', 'hidden');
  });

  // ---- the whole picture, and its size

  send.addEventListener('click', () => {
    const { width, height } = canvas.viewBox.baseVal;
    const inner = [theirs, mine].map((group) => new XMLSerializer().serializeToString(group)).join('').replaceAll(` xmlns="${SVG}"`, '');
    const svg = `<svg xmlns="${SVG}" viewBox="0 0 ${width} ${height}">${inner}</svg>`;
    const fits = new TextEncoder().encode(JSON.stringify(svg)).length <= PICTURE_MOST;
    if (fits) LineUpSurface.event('snapshot', { svg, width, height });
    said.textContent = fits ? say.sent : say.large;
  });

  let told = '';
  let pause;
  new ResizeObserver(() => {
    const { width, height } = canvas.getBoundingClientRect();
    if (width === 0) return;
    const tall = Math.round((WIDTH * height) / width);
    canvas.setAttribute('viewBox', `0 0 ${WIDTH} ${tall}`);
    LineUpSurface.resize(Math.ceil(part('main').getBoundingClientRect().height));
    const size = { width: Math.round(width), height: Math.round(height) };
    clearTimeout(pause);
    // A window that is being dragged has one size in the end.
    pause = setTimeout(() => {
      if (told === JSON.stringify(size)) return;
      told = JSON.stringify(size);
      LineUpSurface.event('resize', size);
    }, 200);
  }).observe(canvas);
})();
