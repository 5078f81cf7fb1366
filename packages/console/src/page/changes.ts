/** Changes of many devices. */
import type { Operations } from '@automation-platform/client';
import { isObject, type Members } from '@automation-platform/json';
import { useMemo } from 'preact/hooks';
import { changeOptions } from './device.ts';
import { deviceGroups, deviceTemplates } from './deviceKinds.ts';
import { ChangedLines } from './difference.ts';
import type { FormDocument } from './fields.ts';
import { FilledForm, useFilling } from './filling.ts';
import { html } from './html.ts';
import { Actions, type JobOf } from './job.ts';
import { useLoaded } from './loading.ts';
import { goTo, place, setQuery } from './location.ts';
import { Action, Link, List, pageQuery, Section, Shown, Status, spoken } from './parts.ts';
import { call, newKeyHeader, read } from './platform.ts';
import { firstRows, member, nameOf } from './resource.ts';
import { typeName } from './run.ts';

type Template = Operations['configuration-manager.searchDeviceTemplates']['answer']['list'][number];
type Change = Operations['configuration-manager.getConfigurationChange']['answer'];
type Row = Change['list'][number];
type Body = NonNullable<Operations['configuration-manager.changeDevices']['input']['body']>;
type Choices = { readonly templates: readonly Template[]; readonly groups: readonly string[] };

const at = ['devices', '-', 'changes'];
const change = 'configuration-manager.changeDevices';
const confirm = 'configuration-manager.confirmDeviceConfig';

/** The first hundred templates and device groups. */
const choices = async (): Promise<Choices> => ({
  templates: await firstRows(deviceTemplates),
  groups: (await firstRows(deviceGroups)).map(nameOf),
});

const variablesOf = ({ variables }: Template): Members =>
  Object.keys(variables).length === 0
    ? { type: 'json', title: 'Variables', description: 'As JSON, such as {"vlan": 20}.' }
    : {
        ...{ type: 'object', title: 'Variables' },
        properties: Object.fromEntries(
          Object.entries(variables).map(([name, value]) => [name, { type: typeName(value) }]),
        ),
      };

const documentOf = (template: Template | undefined, groups: readonly string[]): FormDocument => ({
  schema: {
    type: 'object',
    required: template ? [] : ['config'],
    properties: {
      deviceGroups: member.texts('Device groups', groups),
      devices: member.texts('Devices'),
      ...(template ? { variables: variablesOf(template) } : { config: { type: 'string', title: 'Lines' } }),
      dryRunFirst: { type: 'boolean', title: 'Nothing is sent if one of the devices refuses it in a dry run' },
      ...changeOptions,
      throttle: { type: 'integer', title: 'Devices at once', minimum: 1, maximum: 50, default: 5 },
      stopAfterFailures: {
        type: 'integer',
        title: 'Most failures',
        description: 'After so many the rest is not sent.',
        minimum: 1,
        maximum: 10_000,
      },
    },
  },
  uiSchema: { config: { 'ui:widget': 'textarea' } },
});

const optionNames: ReadonlySet<string> = new Set(['dryRunFirst', ...Object.keys(changeOptions)]);

/** The request of a form. Variables that the template has already are left out: its secrets are masked here. */
const bodyOf = (value: Members, template: Template | undefined, dryRun: boolean): Body => {
  const entries = Object.entries(value).filter(([, one]) => !Array.isArray(one) || one.length > 0);
  const others = Object.fromEntries(entries.filter(([name]) => !optionNames.has(name)));
  const options = Object.fromEntries(entries.filter(([name]) => optionNames.has(name)));
  const body = { ...others, options: { ...options, ...(dryRun && { dryRun }) } };
  if (!template) return body;
  const own = Object.entries(isObject(value.variables) ? value.variables : {});
  const isNew = ([name, one]: readonly [string, unknown]): boolean =>
    JSON.stringify(one) !== JSON.stringify(template.variables[name]);
  return { ...body, template: template.id, variables: Object.fromEntries(own.filter(isNew)) };
};

/** The members of the query that belong to the form, for the ways there and back. */
const formQuery = () => {
  const { group = '', devices = '', template = '' } = place.value.query;
  return { group, devices, template };
};

const ChangeForm = ({ all, template }: { readonly all: Choices; readonly template: Template | undefined }) => {
  const { group, devices } = place.value.query;
  const document = useMemo(() => documentOf(template, all.groups), [template, all]);
  const filling = useFilling(document, {
    draft: `changes ${JSON.stringify([template?.id, group, devices])}`,
    beginning: {
      deviceGroups: group === undefined ? [] : [group],
      devices: devices === undefined ? [] : devices.split('\n'),
      ...(template && { variables: template.variables }),
    },
  });
  const send = (dryRun: boolean): Promise<void> =>
    filling.submit(
      async (value, key) => {
        const headers = dryRun ? newKeyHeader() : { 'Idempotency-Key': key };
        const { jobId } = (await call(change, { headers, body: bodyOf(value as Members, template, dryRun) })).body;
        goTo([...at, jobId], formQuery());
      },
      ['/options'],
      dryRun,
    );
  return html`<${FilledForm} filling=${filling} label="Change devices" operation=${change} button="Apply" send=${send} canTry=${true} />`;
};

const NewChange = () => {
  const loaded = useLoaded(choices, []);
  const choose = (event: { readonly currentTarget: HTMLSelectElement }): void =>
    setQuery({ template: event.currentTarget.value });
  return html`<${Section} title="Change devices"><${Shown} loaded=${loaded}>${(all: Choices) => {
    const template = all.templates.find(({ id }) => id === place.value.query.template);
    return html`<label class="field">Template
        <select value=${template?.id ?? ''} onChange=${choose}><option value="">none: the lines are typed</option>${all.templates.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}</select></label>
      <${ChangeForm} key=${template?.id} all=${all} template=${template} />`;
  }}</${Shown}></${Section}>`;
};

/** Confirms the change of each device that took it. Throws if one of them does not take that. */
const confirmAll = async (jobId: string): Promise<void> => {
  const query = { status: 'sent', limit: 1000 } as const;
  const { list } = (await call('configuration-manager.getConfigurationChange', { path: { jobId }, query })).body;
  const failures: string[] = [];
  for (const { device, change: id } of list)
    await call(confirm, {
      path: { deviceName: device },
      headers: newKeyHeader(),
      body: id === undefined ? {} : { change: id },
    }).catch(({ message }: Error) => failures.push(`${device}: ${message}`));
  if (failures.length > 0) throw new Error(failures.join('. '));
};

const minutesIn = ({ variables: { options } }: JobOf): unknown => isObject(options) && options.confirm;

const OneChange = ({ jobId }: { readonly jobId: string }) => {
  const { status } = place.value.query;
  const loaded = useLoaded(
    async () => {
      const { skip: start, limit } = pageQuery();
      const query = { start, limit, ...(status && { status: status as Row['status'] }) };
      const [{ data: job }, rows] = await Promise.all([
        read('operations-manager.getJob', { path: { id: jobId } }),
        read('configuration-manager.getConfigurationChange', { path: { jobId }, query }),
      ]);
      return { job, totals: rows.totals, rows: rows.list, total: rows.total };
    },
    [JSON.stringify(place.value.query)],
    { when: ({ resource, correlation }) => [resource?.id, correlation].includes(jobId), every: 5000 },
  );
  const { job, totals = {} } = loaded.value ?? {};
  const counts = Object.entries<number>(totals).filter(([, count]) => count > 0);
  return html`<p class="crumbs"><${Link} to=${at} query=${formQuery()}>The form of the change</${Link}></p>
    ${
      job &&
      html`<div class="title"><h2>${job.name}</h2><${Status} word=${job.status} /><${Link} to=${['jobs', jobId]}>job</${Link}><${Actions} job=${job} again=${loaded.again} />
        ${minutesIn(job) !== undefined && minutesIn(job) !== false && html`<${Action} label="Confirm all" kind="main" operation=${confirm} does=${() => confirmAll(jobId)} says="The changes are confirmed." />`}</div>
      <p role="status" class="line">${counts.map(([word, count]) => html`<${Link} key=${word} to=${[...at, jobId]} query=${{ ...formQuery(), status: word }} isHere=${word === status}>${count.toLocaleString('en')} ${spoken(word)}</${Link}> `)}
        ${status && html`<${Link} to=${[...at, jobId]} query=${formQuery()}>all</${Link}>`}</p>`
    }
    <${List} label="Devices of the change" loaded=${loaded} keyOf=${({ device }: Row) => device} filter=${false} empty="The change has no such device."
    columns=${[
      {
        title: 'Device',
        kind: 'wide',
        cell: ({ device }: Row) => html`<${Link} to=${['devices', device]}>${device}</${Link}>`,
      },
      { title: 'Outcome', cell: (row: Row) => html`<${Status} word=${row.status} />` },
      { title: 'Reason', kind: 'wide', cell: ({ reason }: Row) => reason },
      {
        title: 'Lines',
        kind: 'wide',
        cell: ({ device, diff }: Row) =>
          diff
            ? html`<details><summary>changed lines</summary><${ChangedLines} diff=${diff} label=${`Changed lines of ${device}`} /></details>`
            : diff === '' && 'none',
      },
    ]} />`;
};

/** A change of many devices: a new one, or one with the outcome at each device. */
export const Changes = () => {
  const jobId = place.value.path[at.length];
  return jobId === undefined ? html`<${NewChange} />` : html`<${OneChange} jobId=${jobId} />`;
};
