import { Axis, type Instant, wordOf } from './axis.ts';
import { Editor, readVersion, type Version } from './edit.ts';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { goTo, place, setQuery } from './location.ts';
import {
  Action,
  AsNow,
  Facts,
  Failure,
  Json,
  Link,
  List,
  listQuery,
  rowsIn,
  Section,
  Shown,
  Status,
  say,
  Table,
  Time,
} from './parts.ts';
import { call, isNow, may, read } from './platform.ts';
import { historyOf } from './resource.ts';
import { TestBench } from './testBench.ts';
import { columns, kindOf, nameColumn, type Trigger, type TriggerType, triggerTypes } from './triggerColumns.ts';
import { loadSchema, newTrigger } from './triggerForm.ts';

const isOfTriggers = ({ resource }: { readonly resource: { readonly kind: string } | null }): boolean =>
  /^trigger/.test(resource?.kind ?? '');

const TriggerList = () => {
  const loaded = useLoaded(
    async () => rowsIn(await read('operations-manager.getTriggers', { query: listQuery() })),
    [JSON.stringify(place.value.query)],
    { when: isOfTriggers },
  );
  return html`<${List} label="Triggers" loaded=${loaded} keyOf=${(trigger: Trigger) => trigger._id} empty="There is no trigger that you may read."
    tools=${may('operations-manager.testEvents') && isNow.value && html`<${Link} isButton=${true} to=${['triggers', 'test']}>Test an event</${Link}>`}
    columns=${[{ ...nameColumn, sort: 'name' }, ...columns]} />`;
};

/** The next ten instants of a schedule, after those decided before them: ten at most, from as long a time as the next take. */
const loadInstants = async (id: string): Promise<readonly Instant[]> => {
  const preview = async (query: { readonly after?: number; readonly count?: number }): Promise<readonly Instant[]> =>
    (await call('operations-manager.previewTrigger', { path: { id }, query })).body.data;
  const next = await preview({});
  const last = next.at(-1);
  if (!last) return next;
  const earlier = await preview({ after: 2 * Date.now() - last.at, count: 1000 });
  return [...earlier.filter(({ state }) => state !== 'next').slice(-10), ...next];
};

const Instants = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(() => loadInstants(id), [id], { when: isOfTriggers });
  return html`<${Section} title="Instants" tools=${html`<${AsNow} />`}><${Shown} loaded=${loaded}>${(
    rows: readonly Instant[],
  ) => html`
    ${rows.length > 0 && html`<${Axis} instants=${rows} />`}
    <${Table} label="Instants" rows=${rows} keyOf=${(one: Instant) => String(one.at)} empty="The schedule has no more instants."
    columns=${[
      { title: 'At', cell: (one: Instant) => html`<${Time} at=${one.at} hasDay=${true} />` },
      {
        title: 'State',
        cell: (one: Instant) =>
          html`<${Status} word=${wordOf(one.state)} tone=${one.state === 'settled' ? 'good' : undefined} />`,
      },
    ]} />`}</${Shown}></${Section}>`;
};

const NewTrigger = () => {
  const { automation = '', type: asked = 'manual' } = place.value.query;
  const type = (Object.hasOwn(triggerTypes, asked) ? asked : 'manual') as TriggerType;
  const schema = useLoaded(() => loadSchema(type), [type]);
  const create = async (members: object, headers: object): Promise<void> => {
    const body = { enabled: false, ...members, ...newTrigger(type, automation) };
    const answer = await call('operations-manager.createTrigger', { headers, body: body as never });
    goTo(['triggers', answer.body.data._id]);
  };
  return html`<p class="crumbs"><${Link} to=${['automations', automation]}>The automation</${Link}></p><h2>New trigger</h2>
    <div class="tools"><label>Kind <select onChange=${({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => setQuery({ type: currentTarget.value })}>${Object.entries(triggerTypes).map(([name, title]) => html`<option key=${name} value=${name} selected=${name === type}>${title}</option>`)}</select></label></div>
    <${Shown} loaded=${schema}>${(
      one: object,
    ) => html`<${Editor} key=${type} label="New trigger" schema=${one} version=${unmade}
      operation="operations-manager.createTrigger" send=${create} saved=${() => undefined} says="The trigger is made." />`}</${Shown}>`;
};
const unmade: Version = { item: { enabled: true }, revision: undefined };

type ChangeProps = { readonly version: Version; readonly reload: () => Promise<Version>; readonly again: () => void };

const Change = ({ version, reload, again }: ChangeProps) => {
  const { _id: id, name, type } = version.item as unknown as Trigger;
  const schema = useLoaded(() => loadSchema(type), [type]);
  const save = (body: object, headers: object) =>
    call('operations-manager.updateTrigger', { path: { id }, headers, body });
  return html`<${Section} title="Change"><${Shown} loaded=${schema}>${(
    one: object,
  ) => html`<${Editor} label=${`Change ${name}`} schema=${one} version=${version}
    operation="operations-manager.updateTrigger" send=${save} reload=${reload} saved=${again} says="The trigger is saved." />`}</${Shown}></${Section}>`;
};

const OneTrigger = ({ id }: { readonly id: string }) => {
  const reload = () => readVersion('operations-manager.getTrigger', { path: { id } });
  const loaded = useLoaded(reload, [id], { when: isOfTriggers });
  const remove = async (): Promise<void> => {
    await call('operations-manager.deleteTrigger', { path: { id } });
    say('The trigger is deleted. Time can restore it.');
    goTo(['triggers']);
  };
  return html`<p class="crumbs"><${Link} to=${['triggers']}>All triggers</${Link}></p>
    <${Shown} loaded=${loaded}>${(version: Version) => {
      const trigger = version.item as unknown as Trigger;
      const turn = async (): Promise<void> => {
        await call('operations-manager.updateTrigger', {
          path: { id },
          headers: version.revision === undefined ? {} : { 'If-Match': version.revision },
          body: { enabled: !trigger.enabled },
        });
        loaded.again();
      };
      const fault = 'fault' in trigger ? trigger.fault : undefined;
      return html`<div class="title"><h2>${trigger.name}</h2><${Status} word=${trigger.enabled ? 'enabled' : 'disabled'} />
          <span class="actions"><${Action} label=${trigger.enabled ? 'Disable' : 'Enable'} operation="operations-manager.updateTrigger" does=${turn} says="The trigger is saved." />
          <${Action} label="Delete" kind="grave" about=${`Deletes ${trigger.name}`} operation="operations-manager.deleteTrigger" does=${remove} /></span></div>
        <p>${trigger.description}</p>
        ${fault && html`<${Failure}>It never runs: ${fault.message}</${Failure}>`}
        <${Facts} facts=${[
          ['Kind', kindOf(trigger)],
          ['Event', trigger.type === 'eventSystem' && `${trigger.source}: ${trigger.topic}`],
          ['Route', trigger.type === 'endpoint' && trigger.routeName],
          ['Last run', html`<${Time} at=${trigger.lastExecuted} otherwise="never" />`],
          ['Automation', html`<${Link} to=${['automations', trigger.actionId]}>its automation</${Link}>`],
          [
            'Run',
            trigger.type === 'manual' && trigger.enabled && html`<${Link} to=${['run', id]}>Run by hand</${Link}>`,
          ],
          ['Jobs', html`<${Link} to=${['jobs']} query=${{ trigger: id }}>its jobs</${Link}>`],
          historyOf('trigger', id),
        ]} />
        ${'schema' in trigger && trigger.schema !== null && html`<${Section} title="Filter"><${Json} value=${trigger.schema} label="Filter" /></${Section}>`}
        ${trigger.type === 'eventSystem' && isNow.value && html`<${TestBench} key=${id} trigger=${trigger} />`}
        ${trigger.type === 'schedule' && may('operations-manager.previewTrigger') && html`<${Instants} id=${id} />`}
        <${Change} version=${version} reload=${reload} again=${loaded.again} />`;
    }}</${Shown}>`;
};

/** The triggers that start jobs. */
export const Triggers = () => {
  const [, id] = place.value.path;
  if (id === undefined) return html`<${TriggerList} />`;
  if (id === 'test')
    return html`<p class="crumbs"><${Link} to=${['triggers']}>All triggers</${Link}></p><${TestBench} />`;
  return id === 'new' ? html`<${NewTrigger} />` : html`<${OneTrigger} id=${id} />`;
};
