import type { Operations } from '@automation-platform/client';
import { isObject } from '@automation-platform/json';
import { useState } from 'preact/hooks';
import { Copies } from './copies.ts';
import { DeviceCompliance } from './deviceCompliance.ts';
import type { FormDocument } from './fields.ts';
import { FilledForm, useFilling } from './filling.ts';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place } from './location.ts';
import { Outcome } from './outcome.ts';
import { Action, Facts, Json, Link, Section, Shown, Status, Table, Time } from './parts.ts';
import { call, findEvents, isNow, may, newKeyHeader } from './platform.ts';

type Device = Operations['configuration-manager.getDevice']['answer'];

const topics = ['deviceConfigurationApplied', 'deviceConfigurationFailed'];

/** The newest changes of a device, of the newest thousand of all devices. */
const changesOf = async (name: string) => {
  const pages = await Promise.all(topics.map(async (topic) => (await findEvents({ topic, limit: 500 })).results));
  return pages
    .flat()
    .filter(({ data }) => (data as { readonly device?: unknown } | null)?.device === name)
    .sort((a, b) => b.position - a.position)
    .slice(0, 25);
};

const Changes = ({ name }: { readonly name: string }) => {
  const loaded = useLoaded(() => changesOf(name), [name], { when: ({ topic }) => topics.includes(topic) });
  type Change = NonNullable<typeof loaded.value>[number];
  const dataOf = ({ data }: Change) =>
    data as {
      readonly reason?: string;
      readonly verified?: boolean | null;
      readonly unverified?: true;
      readonly lines?: number;
      readonly backups?: { readonly before: string | null };
    };
  const before = (change: Change): string | null | undefined => dataOf(change).backups?.before;
  const outcomeOf = (change: Change): string => {
    if (change.topic !== topics[0]) return 'failed';
    if (dataOf(change).unverified) return 'unverified';
    return dataOf(change).verified === true ? 'verified' : 'applied';
  };
  return html`<${Section} title="Changes"><${Shown} loaded=${loaded}>${(
    rows: readonly Change[],
  ) => html`<${Table} label="Changes" rows=${rows} keyOf=${(change: Change) => change.id} empty="The platform has not changed this device."
    columns=${[
      {
        title: 'At',
        cell: (change: Change) =>
          html`<${Link} to=${['time', 'event', String(change.position)]}><${Time} at=${change.at} /></${Link}>`,
      },
      { title: 'By', cell: (change: Change) => change.actor?.username },
      {
        title: 'Outcome',
        cell: (change: Change) => html`<${Status} word=${outcomeOf(change)} />`,
      },
      { title: 'Lines', kind: 'number', cell: (change: Change) => dataOf(change).lines },
      {
        title: 'Copy',
        cell: (change: Change) =>
          before(change) &&
          html`<${Link} to=${place.value.path} query=${{ first: before(change) ?? undefined }}>before it</${Link}>`,
      },
      { title: 'Reason', kind: 'wide', cell: (change: Change) => dataOf(change).reason },
    ]} />`}</${Shown}></${Section}>`;
};

/** Options of a change of a device, as members of a form. */
export const changeOptions = {
  replace: { type: 'boolean', title: 'Replace the whole configuration' },
  save: { type: 'boolean', title: 'Save it as the startup configuration' },
  confirm: {
    type: 'integer',
    title: 'Minutes to confirm',
    description: 'The device goes back after so many minutes, unless you confirm the change.',
    minimum: 1,
    maximum: 1000,
  },
};

const changeForm: FormDocument = {
  schema: {
    type: 'object',
    required: ['config'],
    properties: { config: { type: 'string', title: 'Lines', format: 'code' }, ...changeOptions },
  },
  uiSchema: { config: { 'ui:widget': 'textarea' } },
};

type Change = { readonly config: string; readonly [option: string]: unknown };

type ConfirmationProps = { readonly name: string; readonly until: string; readonly after: () => void };

const Confirmation = ({ name, until, after }: ConfirmationProps) => {
  const confirm = async (): Promise<void> => {
    await call('configuration-manager.confirmDeviceConfig', { path: { deviceName: name }, headers: newKeyHeader() });
    after();
  };
  return html`<p>The device goes back at <${Time} at=${until} />, unless you confirm the change.</p>
    <div class="actions"><${Action} label="Confirm" kind="main" operation="configuration-manager.confirmDeviceConfig" does=${confirm} says="The change is confirmed." /></div>`;
};

const apply = 'configuration-manager.applyDeviceConfig';

type ApplyProps = { readonly name: string; readonly again: () => void };

/** With the lines that would mend the device, if the address names a report. */
const ApplyConfiguration = ({ name, again }: ApplyProps) => {
  const { mends } = place.value.query;
  const loaded = useLoaded(
    async () =>
      mends === undefined
        ? { config: '' }
        : (await call('configuration-manager.proposeRemediation', { path: { id: mends } })).body,
    [mends],
  );
  return html`<${Section} title="Apply a configuration"><${Shown} loaded=${loaded}>${({ config }: { readonly config: string }) => html`<${Apply} key=${config} name=${name} config=${config} again=${again} />`}</${Shown}></${Section}>`;
};

const Apply = ({ name, config: mending, again }: ApplyProps & { readonly config: string }) => {
  const filling = useFilling(changeForm, { draft: `change ${name} ${mending}`, beginning: { config: mending } });
  const [answer, setAnswer] = useState<unknown>();
  const [until, setUntil] = useState<string>();
  const ask = (dryRun: boolean): Promise<void> =>
    filling.submit(
      async (value, key) => {
        setAnswer(undefined);
        const { config, ...options } = value as Change;
        const { body } = await call(apply, {
          path: { deviceName: name },
          headers: dryRun ? {} : { 'Idempotency-Key': key },
          body: { config: { device: name, config }, options: { ...options, ...(dryRun && { dryRun }) } },
        });
        setAnswer(body);
        if (dryRun) return;
        setUntil(isObject(body) && typeof body.confirmUntil === 'string' ? body.confirmUntil : undefined);
        again();
      },
      ['/options', '/config'],
      dryRun,
    );
  return html`<${FilledForm} filling=${filling} label="Apply a configuration" operation=${apply} button="Apply" send=${ask} canTry=${true} />
    ${answer !== undefined && html`<${Outcome} answer=${answer} />`}
    ${until && html`<${Confirmation} name=${name} until=${until} after=${() => setUntil(undefined)} />`}`;
};

/** One device. */
export const OneDevice = ({ name }: { readonly name: string }) => {
  const device = useLoaded(
    async () => (await call('configuration-manager.getDevice', { path: { deviceName: name } })).body,
    [name],
  );
  const configuration = useLoaded(
    async () => (await call('configuration-manager.getDeviceConfiguration', { path: { deviceName: name } })).body,
    [name],
  );
  return html`<p class="crumbs"><${Link} to=${['devices']}>All devices</${Link}></p>${!isNow.value && html`<p class="quiet">A device and its configuration are asked now. Copies, changes and compliance are those of the moment.</p>`}
    <div class="title"><h2>${name}</h2></div>
    <${Shown} loaded=${device}>${(one: Device) =>
      html`<${Facts} facts=${[
        ['Address', `${one.host}${one.port === undefined ? '' : `:${one.port}`}`],
        ['Type', one.ostype],
        ['Adapter', one.adapter],
        ['Inventory', one.inventory],
      ]} />`}</${Shown}>
    <${ApplyConfiguration} name=${name} again=${configuration.again} />
    ${may('configuration-manager.searchDeviceBackups') && html`<${Copies} name=${name} changed=${configuration.again} />`}
    ${may('configuration-manager.getDeviceTrees') && html`<${DeviceCompliance} name=${name} />`}
    <${Section} title="Running configuration"><${Shown} loaded=${configuration}>${({ config }: { readonly config: string }) => html`<${Json} value=${config} label="Running configuration" />`}</${Shown}></${Section}>
    ${may('audit.getAuditEvents') && html`<${Changes} name=${name} />`}`;
};
