// The site's own code: a to-do list, and the business actions it offers to the surface host.

let nextId = 4;
let tasks = [
  { id: 't1', text: 'Write the release notes', done: true },
  { id: 't2', text: 'Reply to Ms. Ito', done: false },
  { id: 't3', text: 'Book the meeting room', done: false },
];

const list = document.querySelector('#list');
const counts = () => ({ total: tasks.length, done: tasks.filter((task) => task.done).length });

function row(task, fresh) {
  const item = document.createElement('li');
  const box = Object.assign(document.createElement('input'), { type: 'checkbox', checked: task.done });
  const remove = Object.assign(document.createElement('button'), { type: 'button', textContent: '✕' });
  const text = Object.assign(document.createElement('span'), { textContent: task.text });
  box.setAttribute('aria-label', `Done: ${task.text}`);
  remove.setAttribute('aria-label', `Delete: ${task.text}`);
  item.classList.toggle('done', task.done);
  item.classList.toggle('fresh', task.id === fresh);
  item.dataset.id = task.id;
  box.onchange = () => toggle(task.id);
  remove.onclick = () => removeTask(task.id);
  item.append(box, text, remove);
  return item;
}

function render(fresh) {
  const { total, done } = counts();
  const empty = Object.assign(document.createElement('li'), { className: 'empty', textContent: 'Nothing to do.' });
  list.replaceChildren(...(tasks.length ? tasks.map((task) => row(task, fresh)) : [empty]));
  document.querySelector('#summary').textContent = `${total - done} open, ${done} done`;
}

function add(text) {
  const task = { id: `t${nextId++}`, text, done: false };
  tasks = [...tasks, task];
  render(task.id);
  return task;
}

function toggle(id) {
  tasks = tasks.map((task) => (task.id === id ? { ...task, done: !task.done } : task));
  render();
}

function removeTask(id) {
  tasks = tasks.filter((task) => task.id !== id);
  render();
}

function clearCompleted() {
  const removed = tasks.filter((task) => task.done);
  tasks = tasks.filter((task) => !task.done);
  render();
  return removed;
}

document.querySelector('#add').onsubmit = (event) => {
  event.preventDefault();
  const field = document.querySelector('#text');
  add(field.value.trim());
  field.value = '';
};
document.querySelector('#clear').onclick = clearCompleted;
render();

const counted = {
  type: 'object',
  properties: { total: { type: 'integer' }, done: { type: 'integer' } },
  required: ['total', 'done'],
};

const actions = [
  {
    id: 'todo.overview',
    title: 'Overview of the to-do list',
    description: 'How many tasks there are, how many are done, and the texts of the open ones.',
    effect: 'read',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    outputSchema: {
      type: 'object',
      properties: { total: { type: 'integer' }, done: { type: 'integer' }, open: { type: 'array', items: { type: 'string' } } },
      required: ['total', 'done', 'open'],
    },
    handler: () => ({ ...counts(), open: tasks.filter((task) => !task.done).map((task) => task.text) }),
  },
  {
    id: 'todo.add',
    title: 'Add a task',
    description: 'Adds one task to the end of the list.',
    effect: 'write',
    confirm: 'policy',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', minLength: 1, maxLength: 200, description: 'What needs doing' } },
      required: ['text'],
      additionalProperties: false,
    },
    outputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    validate: ({ text }) => text.trim() !== '' || 'the text is blank',
    observe: counts,
    handler: ({ text }) => ({ id: add(text.trim()).id }),
    success: ({ output }) => tasks.some((task) => task.id === output.id),
  },
  {
    id: 'todo.clear_completed',
    title: 'Clear completed tasks',
    description: 'Deletes every task that is ticked as done. This cannot be undone.',
    effect: 'destructive',
    confirm: 'always',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    outputSchema: { type: 'object', properties: { removed: { type: 'integer' } }, required: ['removed'] },
    available: () => tasks.some((task) => task.done) || 'no task is completed',
    observe: counts,
    handler: () => ({ removed: clearCompleted().length }),
    success: ({ after }) => after.done === 0,
  },
  // Registered for the page's own use; the site's `expose` list does not name them, so no agent sees them.
  {
    id: 'todo.toggle_row',
    title: 'Tick a task',
    description: 'Ticks or unticks one task.',
    effect: 'write',
    inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    handler: ({ id }) => (toggle(id), counts()),
  },
  {
    id: 'todo.delete_row',
    title: 'Delete a task',
    description: 'Deletes one task.',
    effect: 'destructive',
    inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    outputSchema: counted,
    handler: ({ id }) => (removeTask(id), counts()),
  },
];

(window.Ostiary ??= { queue: [] }).queue.push((host) => {
  for (const action of actions) host.register(action);
  host.setContext(() => ({ app: 'todo', records: tasks.map((task) => ({ ...task })) }));
});
