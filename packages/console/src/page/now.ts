import { useState } from 'preact/hooks';
import { html, textOf } from './html.ts';
import { Inbox } from './inbox.ts';
import type { PlatformEvent } from './live.ts';
import { useLoaded } from './loading.ts';
import { momentTime } from './location.ts';
import { Action, AsNow, type Column, duration, Link, Progress, Section, Shown, Status, Table, Time } from './parts.ts';
import { call, findEvents, isNow, may, newKeyHeader, read, wordsOf } from './platform.ts';
import { columns, nameColumn, nextRunOf, type Trigger } from './triggerColumns.ts';

const ofKind =
  (...kinds: readonly string[]) =>
  ({ resource }: PlatformEvent): boolean =>
    resource !== null && kinds.includes(resource.kind);

const few = 10;

type UnderWayJob = Awaited<ReturnType<typeof read<'operations-manager.getJobs'>>>['data'][number];

/** How far a job is, if its worker or its workflow says it. */
const shareOf = ({ metrics, progress }: UnderWayJob): number | undefined =>
  metrics.progress ?? (progress?.percent === undefined ? undefined : progress.percent / 100);

const UnderWay = () => {
  const jobs = useLoaded(
    () =>
      read('operations-manager.getJobs', {
        query: { multiEquals: { status: ['running', 'paused'] }, limit: few, expand: 'progress' },
      }),
    [],
    { when: ofKind('job'), every: 10_000 },
  );
  return html`<${Section} title="Jobs under way">
    <${Shown} loaded=${jobs}>${({
      data,
      metadata,
    }: Awaited<ReturnType<typeof read<'operations-manager.getJobs'>>>) => html`
      <${Table} label="Jobs under way" rows=${data} keyOf=${(job: UnderWayJob) => job._id} empty="No job is under way."
        columns=${[
          {
            title: 'Job',
            kind: 'wide',
            cell: (job: UnderWayJob) => html`<${Link} to=${['jobs', job._id]}>${job.name}</${Link}>`,
          },
          { title: 'Status', cell: (job: UnderWayJob) => html`<${Status} word=${job.status} />` },
          ...(data.some((job) => job.progress || shareOf(job) !== undefined)
            ? [
                {
                  title: 'Progress',
                  cell: (job: UnderWayJob) =>
                    html`<${Progress} share=${shareOf(job)} label=${`Progress of ${job.name}`} /> ${job.progress?.message}`,
                },
              ]
            : []),
          { title: 'Since', cell: (job: UnderWayJob) => html`<${Time} at=${job.metrics.start_time} />` },
          { title: 'By', cell: (job: UnderWayJob) => job.created_by },
        ]} />
      ${Number(metadata.total) > data.length && html`<p><${Link} to=${['jobs']} query=${{ status: 'running' }}>All ${Number(metadata.total).toLocaleString('en')}</${Link}></p>`}`}
    </${Shown}>
  </${Section}>`;
};

const Triggers = () => {
  const triggers = useLoaded(
    () => read('operations-manager.getTriggers', { query: { multiEquals: { enabled: 'true' }, limit: 100 } }),
    [],
    { when: ofKind('trigger', 'triggerRuns'), every: 30_000 },
  );
  return html`<${Section} title="Triggers">
    <${Shown} loaded=${triggers}>${({ data }: { readonly data: readonly Trigger[] }) => {
      const next = (trigger: Trigger): number => nextRunOf(trigger) ?? Number.POSITIVE_INFINITY;
      const last = ({ lastExecuted }: Trigger): number => lastExecuted ?? 0;
      const rows = [...data].sort((a, b) => next(a) - next(b) || last(b) - last(a)).slice(0, few);
      return html`<${Table} label="Triggers" rows=${rows} keyOf=${(trigger: Trigger) => trigger._id} empty="No trigger is enabled."
        columns=${[nameColumn, ...columns.filter(({ title }) => title !== 'State')]} />`;
    }}</${Shown}>
  </${Section}>`;
};

const hourMs = 3_600_000;

/** The newest events of some topics within a day. */
const useEvents = (topics: readonly string[]) =>
  useLoaded(
    async () => {
      const since = new Date((momentTime.value ?? Date.now()) - 24 * hourMs).toISOString();
      const isPosition = !isNow.value && momentTime.value === undefined;
      const query = { limit: few, ...(!isPosition && { since }) };
      const found = await Promise.all(topics.map(async (topic) => (await findEvents({ ...query, topic })).results));
      return found
        .flat()
        .sort((a, b) => b.position - a.position)
        .slice(0, few);
    },
    [],
    { when: ({ topic }) => topics.includes(topic) },
  );

type Found = ReturnType<typeof useEvents>['value'];
type Event = NonNullable<Found>[number];

const member = (event: Event, name: string): string => {
  const value = (event.data as Readonly<Record<string, unknown>> | null)?.[name];
  return textOf(value);
};

const grade = (name: string) => (event: Event) => html`<${Status} word=${member(event, name)} />`;
const deviceLink = (event: Event) => {
  const name = member(event, 'device');
  return html`<${Link} to=${['devices', name]}>${name}</${Link}>`;
};
const words = (name: string) => (event: Event) => member(event, name);

const Trouble = ({
  title,
  topics,
  empty,
  columns,
}: {
  readonly title: string;
  readonly topics: readonly string[];
  readonly empty: string;
  readonly columns: readonly Column<Event>[];
}) => {
  const events = useEvents(topics);
  return html`<${Section} title=${title}>
    <${Shown} loaded=${events}>${(
      rows: readonly Event[],
    ) => html`<${Table} label=${title} rows=${rows} keyOf=${(event: Event) => event.id} empty=${empty}
      columns=${[...columns, { title: 'At', cell: (event: Event) => html`<${Time} at=${event.at} />` }]} />`}</${Shown}>
  </${Section}>`;
};

type FailedDevice = { readonly device: string; readonly reason: string; readonly at: string | null };

/** The devices that an event says could not be changed, or read for a check. */
const failedIn = (event: Event): readonly FailedDevice[] => {
  const { failed } = event.data as { readonly failed?: readonly Omit<FailedDevice, 'at'>[] };
  const devices = failed ?? [{ device: member(event, 'device'), reason: member(event, 'reason') }];
  return devices.map((one) => ({ ...one, at: event.at }));
};

const FailedDevices = () => {
  const events = useEvents(['deviceConfigurationFailed', 'compliancePlanRan']);
  const [answers, setAnswers] = useState<ReadonlyMap<string, string>>(new Map());
  const ask = async (devices: readonly FailedDevice[]): Promise<void> => {
    const questions = devices.map(async ({ device }) => {
      const answer = await call('configuration-manager.isDeviceAlive', { path: { deviceName: device } }).then(
        ({ body }) => (body.reachable ? 'answers' : 'does not answer'),
        wordsOf,
      );
      return [device, answer] as const;
    });
    setAnswers(new Map(await Promise.all(questions)));
  };
  return html`<${Section} title="Devices that failed">
    <${Shown} loaded=${events}>${(rows: readonly Event[]) => {
      const newest = new Map(
        rows
          .flatMap(failedIn)
          .toReversed()
          .map((one) => [one.device, one]),
      );
      const devices = [...newest.values()].toReversed().slice(0, few);
      return html`<${Table} label="Devices that failed" rows=${devices} keyOf=${({ device }: FailedDevice) => device} empty="Within a day each device took its configuration and could be checked."
        columns=${[
          {
            title: 'Device',
            kind: 'wide',
            cell: ({ device }: FailedDevice) => html`<${Link} to=${['devices', device]}>${device}</${Link}>`,
          },
          { title: 'Reason', kind: 'wide', cell: ({ reason }: FailedDevice) => reason },
          { title: 'At', cell: ({ at }: FailedDevice) => html`<${Time} at=${at} />` },
          { title: 'Now', cell: ({ device }: FailedDevice) => html`<${Status} word=${answers.get(device)} />` },
        ]} />
        ${devices.length > 0 && html`<div class="actions"><${Action} label="Ask if they answer" operation="configuration-manager.isDeviceAlive" does=${() => ask(devices)} /></div>`}`;
    }}</${Shown}>
  </${Section}>`;
};

const Parked = () => {
  const parked = useLoaded(() => read('operations-manager.getParked', { query: { limit: few } }), [], {
    when: ({ topic }) => /arked|unsRefused/.test(topic),
  });
  return html`<${Section} title="Parked runs">
    <${Shown} loaded=${parked}>${({ data }: Awaited<ReturnType<typeof read<'operations-manager.getParked'>>>) => {
      type Run = (typeof data)[number];
      return html`<${Table} label="Parked runs" rows=${data} keyOf=${(run: Run) => run._id} empty="Nothing is parked."
        columns=${[
          {
            title: 'Event',
            cell: ({ event: { id, topic, position } }: Run) =>
              position === null
                ? (topic ?? id)
                : html`<${Link} to=${['time', 'event', String(position)]}>${topic ?? id}</${Link}>`,
          },
          { title: 'Reason', kind: 'wide', cell: (run: Run) => run.reason },
          { title: 'Tries', kind: 'number', cell: (run: Run) => run.tries },
          { title: 'At', cell: (run: Run) => html`<${Time} at=${run.at} />` },
          {
            title: 'Change',
            cell: ({ _id: id, reason }: Run) =>
              html`<${Action} label="Retry" about=${`Runs it again: ${reason}`} operation="operations-manager.retryParked" does=${() => call('operations-manager.retryParked', { path: { id }, headers: newKeyHeader() })} says="It is tried again." />
                <${Action} label="Discard" kind="grave" about=${`Gives it up: ${reason}`} operation="operations-manager.discardParked" does=${() => call('operations-manager.discardParked', { path: { id }, headers: newKeyHeader() })} says="The run is discarded." />`,
          },
        ]} />`;
    }}</${Shown}>
  </${Section}>`;
};

type Health = {
  readonly status: string;
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly eventStore: {
    readonly kind: string;
    readonly position: number;
    readonly connected: boolean;
    readonly fault: string | null;
  };
  readonly readStore: { readonly kind: string; readonly lag: number; readonly fault: string | null };
  readonly tasks: Readonly<Record<string, number>>;
};

const HealthOf = () => {
  const health = useLoaded(async () => (await call('service.status')).body as unknown as Health, [], { every: 10_000 });
  return html`<${Section} title="Health" tools=${html`<${AsNow} />`}>
    <${Shown} loaded=${health}>${({
      status,
      version,
      uptimeSeconds,
      eventStore,
      readStore,
    }: Health) => html`<dl class="facts">
      <div><dt>Service</dt><dd><${Status} word=${status} /></dd></div>
      <div><dt>Event log</dt><dd>${eventStore.connected ? `${eventStore.kind}, position ${eventStore.position.toLocaleString('en')}` : html`<${Status} word="failed" /> cannot be reached`} ${eventStore.fault}</dd></div>
      <div><dt>Read models</dt><dd>${readStore.kind}, ${readStore.lag === 0 ? 'up to date' : `${readStore.lag.toLocaleString('en')} events behind`} ${readStore.fault}</dd></div>
      <div><dt>Version</dt><dd>${version}, up for ${duration(uptimeSeconds * 1000)}</dd></div>
    </dl>`}</${Shown}>
  </${Section}>`;
};

/** The view of the present, and of all that waits for the caller. */
export const Now = () => html`
  <${Inbox} />
  <div class="columns">
    <div class="stack">
      ${may('operations-manager.getJobs') && html`<${UnderWay} />`}
      ${may('operations-manager.getTriggers') && html`<${Triggers} />`}
      ${may('operations-manager.getParked') && html`<${Parked} />`}
    </div>
    <div class="stack">
      ${
        may('audit.getAuditEvents') &&
        html`<${FailedDevices} />
        <${Trouble} title="Compliance that changed" topics=${['deviceComplianceChanged']} empty="No grade changed within a day." columns=${[
          { title: 'Device', kind: 'wide', cell: deviceLink },
          { title: 'Before', cell: grade('from') },
          { title: 'Now', cell: grade('to') },
        ]} />
        <${Trouble} title="Refused runs" topics=${['runsRefused']} empty="No run was refused within a day." columns=${[
          { title: 'Reason', cell: words('reason') },
          { title: 'Message', kind: 'wide', cell: words('message') },
          { title: 'Count', kind: 'number', cell: words('count') },
        ]} />`
      }
      <${HealthOf} />
    </div>
  </div>`;
