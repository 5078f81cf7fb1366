import type { Operations } from '@automation-platform/client';
import { useRef, useState } from 'preact/hooks';
import { Copies } from './copies.ts';
import { DeviceCompliance } from './deviceCompliance.ts';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place } from './location.ts';
import { Outcome } from './outcome.ts';
import { Action, Facts, Json, Link, Section, Shown, Status, Table, Time } from './parts.ts';
import { call, isNow, may, newKey } from './platform.ts';

type Device = Operations['configuration-manager.getDevice']['answer'];

const topics = ['deviceConfigurationApplied', 'deviceConfigurationFailed'];

/** The newest changes of a device, of the newest thousand of all devices. */
const changesOf = async (name: string) => {
  const pages = await Promise.all(
    topics.map(async (topic) => (await call('audit.getAuditEvents', { query: { topic, limit: 500 } })).body.results),
  );
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
      { title: 'At', cell: (change: Change) => html`<${Time} at=${change.at} />` },
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

const ApplyConfiguration = ({ name, again }: { readonly name: string; readonly again: () => void }) => {
  const [text, setText] = useState('');
  const [answer, setAnswer] = useState<unknown>();
  const key = useRef(newKey());
  const ask = async (dryRun: boolean): Promise<void> => {
    setAnswer(undefined);
    const { body } = await call('configuration-manager.applyDeviceConfig', {
      path: { deviceName: name },
      headers: dryRun ? {} : { 'Idempotency-Key': key.current },
      body: { config: { device: name, config: text }, options: dryRun ? { dryRun } : {} },
    });
    setAnswer(body);
    if (dryRun) return;
    key.current = newKey();
    again();
  };
  const type = ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }): void => {
    key.current = newKey();
    setText(currentTarget.value);
  };
  return html`<${Section} title="Apply a configuration">
    <label class="field">Lines<textarea class="code" rows="6" spellcheck="false" value=${text} onInput=${type}></textarea></label>
    <div class="actions"><${Action} label="Dry run" disabled=${text.trim() === ''} operation="configuration-manager.applyDeviceConfig" does=${() => ask(true)} />
      <${Action} label="Apply" kind="main" disabled=${text.trim() === ''} operation="configuration-manager.applyDeviceConfig" does=${() => ask(false)} /></div>
    ${answer !== undefined && html`<${Outcome} answer=${answer} />`}
  </${Section}>`;
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
