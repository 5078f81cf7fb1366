import type { Operations } from '@automation-platform/client';
import { useState } from 'preact/hooks';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place } from './location.ts';
import {
  Action,
  Facts,
  Failure,
  Json,
  Link,
  List,
  pageQuery,
  rowsIn,
  Section,
  Shown,
  Status,
  Table,
  Time,
} from './parts.ts';
import { call, isNow, may, read } from './platform.ts';

type Trigger = Operations['operations-manager.getTrigger']['answer']['data'];
type Found = Operations['operations-manager.testTrigger']['answer']['data'];

const kindOf = ({ type }: Trigger): string => (type === 'eventSystem' ? 'event' : type);
const isOfTriggers = ({ resource }: { readonly resource: { readonly kind: string } | null }): boolean =>
  /^trigger/.test(resource?.kind ?? '');

const TriggerList = () => {
  const { filter } = place.value.query;
  const loaded = useLoaded(
    async () =>
      rowsIn(
        await read('operations-manager.getTriggers', {
          query: { ...pageQuery(), ...(filter && { multiContains: { name: filter } }) } as object,
        }),
      ),
    [JSON.stringify(place.value.query)],
    { when: isOfTriggers },
  );
  return html`<${List} label="Triggers" loaded=${loaded} keyOf=${(trigger: Trigger) => trigger._id} empty="There is no trigger that you may read."
    columns=${[
      {
        title: 'Trigger',
        kind: 'wide',
        sort: 'name',
        cell: (trigger: Trigger) => html`<${Link} to=${['triggers', trigger._id]}>${trigger.name}</${Link}>`,
      },
      { title: 'Kind', cell: kindOf },
      {
        title: 'State',
        cell: (trigger: Trigger) => html`<${Status} word=${trigger.enabled ? 'enabled' : 'disabled'} />`,
      },
      { title: 'Last run', cell: (trigger: Trigger) => html`<${Time} at=${trigger.lastExecuted} otherwise="never" />` },
      {
        title: 'Next run',
        cell: (trigger: Trigger) => html`<${Time} at=${'nextRunAt' in trigger ? trigger.nextRunAt : null} />`,
      },
    ]} />`;
};

/** An event is pasted; the platform says if it would fire the trigger, and why not. Nothing is published. */
const TestBench = ({ id }: { readonly id: string }) => {
  const [text, setText] = useState('{}');
  const [found, setFound] = useState<Found>();
  const test = async (): Promise<void> => {
    setFound(undefined);
    let payload: unknown;
    try {
      payload = JSON.parse(text);
    } catch (error) {
      throw new Error(`The payload is no JSON. ${(error as Error).message}`);
    }
    setFound((await call('operations-manager.testTrigger', { path: { id }, body: { payload } })).body.data);
  };
  type Reason = Found['reasons'][number];
  return html`<${Section} title="Test bench">
    <label class="field">Payload of an event<textarea class="code" rows="6" spellcheck="false" value=${text} onInput=${({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }) => setText(currentTarget.value)}></textarea></label>
    <div class="actions"><${Action} label="Test" kind="main" operation="operations-manager.testTrigger" does=${test} /></div>
    ${
      found &&
      html`<p role="status"><strong>${found.matches ? 'It would fire.' : 'It would not fire.'}</strong></p>
      ${
        found.reasons.length > 0 &&
        html`<${Table} label="Reasons" rows=${found.reasons} keyOf=${(reason: Reason) => JSON.stringify(reason)}
        columns=${[
          { title: 'Place', cell: (reason: Reason) => (reason as { readonly path?: string }).path },
          { title: 'Reason', kind: 'wide', cell: (reason: Reason) => reason.message },
        ]} />`
      }
      ${found.variables && html`<h3>Variables of the job</h3><${Json} value=${found.variables} label="Variables of the job" />`}`
    }
  </${Section}>`;
};

const Instants = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(
    async () => (await call('operations-manager.previewTrigger', { path: { id } })).body.data,
    [id],
    { when: isOfTriggers },
  );
  type Instant = NonNullable<typeof loaded.value>[number];
  return html`<${Section} title="Instants"><${Shown} loaded=${loaded}>${(
    rows: readonly Instant[],
  ) => html`<${Table} label="Instants" rows=${rows} keyOf=${(one: Instant) => String(one.at)} empty="The schedule has no more instants."
    columns=${[
      { title: 'At', cell: (one: Instant) => html`<${Time} at=${one.at} />` },
      { title: 'State', cell: (one: Instant) => html`<${Status} word=${one.state} />` },
    ]} />`}</${Shown}></${Section}>`;
};

const OneTrigger = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(
    async () => {
      const { body, headers } = await call('operations-manager.getTrigger', {
        path: { id },
        ...(place.value.query.asOf && { query: { asOf: place.value.query.asOf } }),
      });
      return { trigger: body.data, etag: headers.get('etag') ?? '' };
    },
    [id],
    { when: isOfTriggers },
  );
  return html`<p class="crumbs"><${Link} to=${['triggers']}>All triggers</${Link}></p>
    <${Shown} loaded=${loaded}>${({ trigger, etag }: { readonly trigger: Trigger; readonly etag: string }) => {
      const turn = async (): Promise<void> => {
        const revision = etag.match(/^(?:W\/)?"(\d+)/)?.[1];
        const headers = revision === undefined ? {} : { 'If-Match': `"${revision}"` };
        await call('operations-manager.updateTrigger', {
          path: { id },
          headers,
          body: { enabled: !trigger.enabled },
        });
        loaded.again();
      };
      const fault = 'fault' in trigger ? trigger.fault : undefined;
      return html`<div class="title"><h2>${trigger.name}</h2><${Status} word=${trigger.enabled ? 'enabled' : 'disabled'} />
          <span class="actions"><${Action} label=${trigger.enabled ? 'Disable' : 'Enable'} operation="operations-manager.updateTrigger" does=${turn} says="The trigger is saved." /></span></div>
        <p>${trigger.description}</p>
        ${fault && html`<${Failure}>It never runs: ${fault.message}</${Failure}>`}
        <${Facts} facts=${[
          ['Kind', kindOf(trigger)],
          ['Event', trigger.type === 'eventSystem' && `${trigger.source}: ${trigger.topic}`],
          ['Route', trigger.type === 'endpoint' && trigger.routeName],
          ['Last run', html`<${Time} at=${trigger.lastExecuted} otherwise="never" />`],
          ['Jobs', html`<${Link} to=${['jobs']} query=${{ trigger: id }}>its jobs</${Link}>`],
        ]} />
        ${'schema' in trigger && trigger.schema !== null && html`<${Section} title="Filter"><${Json} value=${trigger.schema} label="Filter" /></${Section}>`}
        ${trigger.type === 'eventSystem' && isNow.value && html`<${TestBench} id=${id} />`}
        ${trigger.type === 'schedule' && may('operations-manager.previewTrigger') && html`<${Instants} id=${id} />`}`;
    }}</${Shown}>`;
};

/** The triggers that start jobs. */
export const Triggers = () => {
  const [, id] = place.value.path;
  return id === undefined ? html`<${TriggerList} />` : html`<${OneTrigger} id=${id} />`;
};
