import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { Section, Shown, say } from './parts.ts';
import { may, read } from './platform.ts';

/** The tasks, with the part of the page that shows one. Mostly nothing waits, and that part is large. */
const loadTasks = async () => {
  if (!may('operations-manager.getTasks')) return { data: [], total: 0 };
  const { data, metadata } = await read('operations-manager.getTasks', { query: { kind: 'people', limit: 25 } });
  const { Todo } = data.length > 0 ? await import('./todo.ts') : {};
  return { data, total: Number(metadata.total), Todo };
};

/** The tasks that wait for the caller. */
export const Inbox = () => {
  const tasks = useLoaded(loadTasks, [], {
    when: ({ resource }) => resource?.kind === 'job' || resource?.kind === 'jobTasks',
    every: 15_000,
  });
  const after = (): void => {
    say('The task is done.');
    tasks.again();
  };
  return html`<${Section} title="Waits for me">
    <${Shown} loaded=${tasks}>${({ data, total, Todo }: Awaited<ReturnType<typeof loadTasks>>) => {
      if (data.length === 0) return html`<p class="empty">Nothing waits for you.</p>`;
      return html`${data.map((task) => html`<${Todo} key=${task._id} task=${task} after=${after} />`)}
        ${total > data.length && html`<p class="quiet">${total - data.length} more wait behind these.</p>`}`;
    }}</${Shown}>
  </${Section}>`;
};
