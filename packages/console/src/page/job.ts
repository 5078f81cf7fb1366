import type { Operations } from '@automation-platform/client';
import { isObject } from '@automation-platform/json';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { html, textOf } from './html.ts';
import { useLoaded } from './loading.ts';
import { linkTo, place, setQuery } from './location.ts';
import {
  Action,
  duration,
  Facts,
  Failure,
  Json,
  Link,
  Loading,
  Progress,
  Section,
  Shown,
  Status,
  say,
  spoken,
  Table,
  Time,
} from './parts.ts';
import { call, findEvents, isNow, may, read } from './platform.ts';
import { Todo } from './todo.ts';

export type JobOf = Operations['operations-manager.getJob']['answer']['data'];
type JobTask = NonNullable<JobOf['tasks']>[string];
export type Workflow = {
  readonly tasks: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly transitions: Readonly<
    Record<string, Readonly<Record<string, { readonly type?: string; readonly state?: string }>>>
  >;
};

/** The workflow in the revision that the job runs: the one of now, or the one of the time when the job began. */
const workflowOf = async ({ workflow, created }: JobOf): Promise<Workflow | undefined> => {
  if (!workflow || !may('operations-manager.getWorkflow')) return undefined;
  const { id, revision } = workflow;
  const now = await call('operations-manager.getWorkflow', { path: { id } }).catch(() => undefined);
  const isSame = now?.headers.get('etag')?.match(/\d+/)?.[0] === String(revision);
  const { body } =
    now && isSame ? now : await call('operations-manager.getWorkflow', { path: { id }, query: { asOf: created } });
  return body.data as unknown as Workflow;
};

const AutomationLink = ({ id }: { readonly id: string }) => {
  const automation = useLoaded(() => read('operations-manager.getAutomation', { path: { id } }), [id]);
  return html`<${Link} to=${['jobs']} query=${{ automation: id }}>${automation.value?.data.name ?? id}</${Link}>`;
};

/** The text by which people know a task. */
export const titleOf = (workflow: Workflow | undefined, id: string): string => {
  const { summary, description, name } = workflow?.tasks[id] ?? {};
  const text = [summary, description, name].find((one) => typeof one === 'string' && one !== '');
  if (id === 'workflow_start') return 'Start';
  if (id === 'workflow_end') return 'End';
  return typeof text === 'string' ? text : id;
};

export type GraphProps = {
  readonly job: JobOf;
  readonly workflow: Workflow;
  readonly chosenTask: string | undefined;
};

const Graph = ({ job, workflow, chosenTask }: GraphProps) => {
  const [Drawn, setDrawn] = useState<ComponentType<GraphProps>>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    import('./graph.ts').then(({ WorkflowGraph }) => setDrawn(() => WorkflowGraph), setError);
  }, []);
  if (error !== undefined) return html`<${Failure}>The graph could not be loaded.</${Failure}>`;
  return Drawn ? html`<${Drawn} job=${job} workflow=${workflow} chosenTask=${chosenTask} />` : html`<${Loading} />`;
};

/** Tasks in the order in which the job came to them, those that it has not come to last. */
const placeIn = (id: string, { from }: JobTask): string => `${from ?? '9'} ${id === 'workflow_start' ? '' : id}`;

const TaskTable = ({
  job,
  workflow,
  chosenTask,
}: {
  readonly job: JobOf;
  readonly workflow: Workflow | undefined;
  readonly chosenTask: string | undefined;
}) => {
  const rows = Object.entries(job.tasks ?? {}).sort(([one, a], [other, b]) =>
    placeIn(one, a).localeCompare(placeIn(other, b)),
  );
  type Row = (typeof rows)[number];
  return html`<${Table} label="Tasks" rows=${rows} keyOf=${([id]: Row) => id} isMarked=${([id]: Row) => id === chosenTask} empty="The job has no tasks."
    columns=${[
      {
        title: 'Task',
        kind: 'wide',
        cell: ([id]: Row) =>
          html`<a href=${linkTo(['jobs', job._id], { task: id })} aria-current=${id === chosenTask ? 'true' : undefined}>${titleOf(workflow, id)}</a>`,
      },
      { title: 'Status', cell: ([, task]: Row) => html`<${Status} word=${task.status} />` },
      { title: 'Result', cell: ([, task]: Row) => html`<${Status} word=${task.result} />` },
      { title: 'Runs', kind: 'number', cell: ([, task]: Row) => task.run || '' },
      { title: 'From', cell: ([, task]: Row) => html`<${Time} at=${task.from} />` },
      { title: 'To', cell: ([, task]: Row) => html`<${Time} at=${task.to} />` },
    ]} />`;
};

const RunChoice = ({ runs, run }: { readonly runs: readonly { readonly run: number }[]; readonly run: number }) =>
  runs.length < 2
    ? null
    : html`<label>Run <select onChange=${({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => setQuery({ run: currentTarget.value }, true)}>
        ${runs.map((one) => html`<option key=${one.run} value=${one.run} selected=${one.run === run}>${one.run}</option>`)}
      </select></label>`;

const Children = ({ task }: { readonly task: JobTask }) =>
  task.children && task.children.length > 0
    ? html`<p>Jobs within: ${task.children.map(
        (child) =>
          html`<span key=${child.index}>${child.job === null ? 'not begun' : html`<${Link} to=${['jobs', child.job]}>${child.index + 1}</${Link}>`} <${Status} word=${child.status} /> </span>`,
      )}</p>`
    : null;

type TaskProps = {
  readonly job: JobOf;
  readonly workflow: Workflow | undefined;
  readonly id: string;
  readonly task: JobTask;
  readonly again: () => void;
};

type WhyProps = { readonly title: string; readonly label: string; readonly error: unknown };

/** Why something failed: its message as text, and all else as it is. */
/** `taskName` as a title is "Task name". */
const titled = (name: string): string => name.slice(0, 1).toUpperCase() + spoken(name.slice(1));

const Why = ({ title, label, error }: WhyProps) => {
  const { message, ...others } = isObject(error) ? error : { message: error };
  return html`<div class="failure" role="group" aria-label=${label}><strong>${title}</strong>
    ${message !== undefined && html`<p class="words">${textOf(message)}</p>`}
    ${Object.keys(others).length > 0 && (Object.values(others).some(isObject) ? html`<${Json} value=${others} label="More" />` : html`<${Facts} facts=${Object.entries(others).map(([name, value]) => [titled(name), textOf(value)])} />`)}</div>`;
};

/** A person can do the task here. */
const ManualTask = ({ job, id, task, again }: Pick<TaskProps, 'job' | 'id' | 'task' | 'again'>) => {
  const loaded = useLoaded(
    () => read('operations-manager.getTask', { path: { id: `${job._id}.${id}.${task.run}` } }),
    [task.run, task.status],
  );
  const after = (): void => {
    say('The task is done.');
    again();
  };
  return loaded.value?.data ? html`<${Todo} task=${loaded.value.data} after=${after} />` : null;
};

const TaskPanel = ({ job, workflow, id, task, again }: TaskProps) => {
  const runNumber = Number(place.value.query.run ?? 0) || undefined;
  const loaded = useLoaded(
    () =>
      read('operations-manager.getTaskRun', {
        path: { id: job._id, task: id },
        query: runNumber === undefined ? {} : { run: runNumber },
      }),
    [id, runNumber, task.run, task.status],
  );
  const isManual = workflow?.tasks[id]?.type === 'manual' && (task.status === 'waiting' || task.status === 'claimed');
  const retry = async (): Promise<void> => {
    await call('operations-manager.retryTask', { path: { id: job._id, task: id } });
    again();
  };
  const goOn = async (): Promise<void> => {
    await call('operations-manager.continueJob', { path: { id: job._id }, body: { fromTask: id } });
    again();
  };
  return html`<${Section} title=${`Task: ${titleOf(workflow, id)}`} tools=${html`<a href=${linkTo(['jobs', job._id])}>Close</a>`}>
    <p class="line"><${Status} word=${task.status} /> <${Status} word=${task.result} /> ${task.claim && html`<span class="quiet">taken by ${task.claim.worker}</span>`}</p>
    <div class="actions">
      ${task.status === 'blocked' && html`<${Action} label="Retry" about=${`Runs ${titleOf(workflow, id)} again`} kind="main" operation="operations-manager.retryTask" does=${retry} says="The task runs again." />`}
      ${job.status === 'error' && task.run > 0 && html`<${Action} label="Continue from here" operation="operations-manager.continueJob" does=${goOn} says="The job goes on from this task." />`}
    </div>
    <${Children} task=${task} />
    ${isManual && isNow.value && may('operations-manager.getTask') && html`<${ManualTask} job=${job} id=${id} task=${task} again=${again} />`}
    ${
      task.run === 0
        ? html`<p class="empty">The job has not come to this task.</p>`
        : html`<${Shown} loaded=${loaded}>${({ data }: Operations['operations-manager.getTaskRun']['answer']) => html`
          <${RunChoice} runs=${data.runs} run=${data.run} />
          ${data.error !== null && data.error !== undefined && html`<${Why} title="Error" error=${data.error} label="Error of the task" />`}
          <div class="columns">
            <div><h3>Inputs</h3><${Json} value=${data.incoming} label="Inputs" /></div>
            <div><h3>Outputs</h3><${Json} value=${data.outgoing} label="Outputs" /></div>
          </div>`}</${Shown}>`
    }
  </${Section}>`;
};

const History = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(async () => (await findEvents({ resource: `job/${id}`, limit: 50 })).results, [id], {
    when: ({ resource }) => resource?.id === id,
  });
  type Event = NonNullable<typeof loaded.value>[number];
  return html`<${Section} title="Events">
    <${Shown} loaded=${loaded}>${(
      rows: readonly Event[],
    ) => html`<${Table} label="Events" rows=${rows} keyOf=${(event: Event) => event.id}
      columns=${[
        { title: 'At', cell: (event: Event) => html`<${Time} at=${event.at} />` },
        {
          title: 'Event',
          kind: 'wide',
          cell: (event: Event) =>
            html`<${Link} to=${['time', 'event', String(event.position)]}>${event.topic}</${Link}>`,
        },
        { title: 'By', cell: (event: Event) => event.actor?.username },
        { title: 'Position', kind: 'number', cell: (event: Event) => event.position },
      ]} />`}</${Shown}>
  </${Section}>`;
};

/** The buttons that change a job. */
export const Actions = ({ job, again }: { readonly job: JobOf; readonly again: () => void }) => {
  const move =
    (
      operation:
        | 'operations-manager.cancelJobs'
        | 'operations-manager.retryJobs'
        | 'operations-manager.pauseJobs'
        | 'operations-manager.resumeJobs',
    ) =>
    async () => {
      await call(operation, { body: { jobIds: [job._id] } });
      again();
    };
  const { status } = job;
  return html`<div class="actions">
    ${status === 'error' && html`<${Action} label="Retry" kind="main" operation="operations-manager.retryJobs" does=${move('operations-manager.retryJobs')} says="The job runs again." />`}
    ${status === 'running' && html`<${Action} label="Pause" operation="operations-manager.pauseJobs" does=${move('operations-manager.pauseJobs')} says="The job is paused." />`}
    ${status === 'paused' && html`<${Action} label="Resume" kind="main" operation="operations-manager.resumeJobs" does=${move('operations-manager.resumeJobs')} says="The job goes on." />`}
    ${(status === 'running' || status === 'paused') && html`<${Action} label="Cancel" kind="grave" operation="operations-manager.cancelJobs" does=${move('operations-manager.cancelJobs')} says="The job is canceled." />`}
  </div>`;
};

/** The task that a person wants to see first: the one that blocks the job. */
const blocking = ({ status, tasks = {} }: JobOf): string | undefined =>
  status === 'error' ? Object.keys(tasks).find((id) => tasks[id]?.status === 'blocked') : undefined;

const Content = ({ job, again }: { readonly job: JobOf; readonly again: () => void }) => {
  const workflow = useLoaded(() => workflowOf(job), [job.workflow?.id, job.created]);
  const chosenTask = place.value.query.task ?? blocking(job);
  const task = chosenTask === undefined ? undefined : job.tasks?.[chosenTask];
  return html`
    <div class="title"><h2>${job.name}</h2><${Status} word=${job.status} /><${Actions} job=${job} again=${again} /></div>
    ${job.description !== '' && html`<p>${job.description}</p>`}
    ${job.error !== null && html`<${Why} title="Why it failed" error=${job.error} label="Error of the job" />`}
    <${Facts} facts=${[
      [
        'Progress',
        job.metrics.progress !== undefined && (job.status === 'running' || job.status === 'paused')
          ? html`<${Progress} share=${job.metrics.progress} label="Progress of the job" /> ${job.progress?.message}`
          : null,
      ],
      ['Started', html`<${Time} at=${job.metrics.start_time} /> by ${job.created_by}`],
      ['Ended', job.metrics.end_time && html`<${Time} at=${job.metrics.end_time} />`],
      ['Took', duration(job.metrics.duration)],
      ['Runs', job.component.name ? `${job.component.name} (${job.component.type})` : job.component.type],
      ['Automation', job.automation && html`<${AutomationLink} id=${job.automation} />`],
      [
        'Part of',
        job.parent &&
          html`<${Link} to=${['jobs', job.parent.job]} query=${{ task: job.parent.task }}>the job ${job.parent.job}</${Link}>`,
      ],
      ['Worker', job.claim && html`${job.claim.worker}, attempt ${job.claim.attempts}`],
      ['Groups', job.groups.join(', ')],
    ]} />
    ${
      job.workflow &&
      html`<${Section} title="Workflow">
      <${Failure} error=${workflow.error} />
      ${workflow.value && html`<${Graph} job=${job} workflow=${workflow.value} chosenTask=${chosenTask} />`}
      <${TaskTable} job=${job} workflow=${workflow.value} chosenTask=${chosenTask} />
    </${Section}>`
    }
    ${chosenTask !== undefined && task && html`<${TaskPanel} key=${chosenTask} job=${job} workflow=${workflow.value} id=${chosenTask} task=${task} again=${again} />`}
    <${Section} title="Variables"><${Json} value=${job.variables} label="Variables" /></${Section}>
    ${may('audit.getAuditEvents') && html`<${History} id=${job._id} />`}
  `;
};

/** One job. */
export const Job = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(() => read('operations-manager.getJob', { path: { id } }), [id], {
    when: ({ resource }) => resource?.id === id,
    every: 15_000,
  });
  return html`<p class="crumbs"><${Link} to=${['jobs']}>All jobs</${Link}></p>
    <${Shown} loaded=${loaded}>${({ data }: { readonly data: JobOf }) => html`<${Content} job=${data} again=${loaded.again} />`}</${Shown}>`;
};
