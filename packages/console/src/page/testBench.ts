import type { Operations } from '@automation-platform/client';
import { useState } from 'preact/hooks';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place, setQuery } from './location.ts';
import { Action, Json, Link, Section, Status, Table } from './parts.ts';
import { call, may, read } from './platform.ts';
import type { Trigger } from './triggerColumns.ts';

type EventTrigger = Extract<Trigger, { readonly type: 'eventSystem' }>;
type Event = Operations['audit.getAuditEvents']['answer']['results'][number];
type Explained = Operations['operations-manager.testTrigger']['answer']['data'];
type OfTrigger = Operations['operations-manager.testEvents']['answer']['data'][number] & { readonly name: string };
type Reason = Explained['reasons'][number];

const payloadIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The payload is no JSON. ${(error as Error).message}`);
  }
};

/** The newest events of a source and a topic, and the one at the position. */
const loadEvents = async (source: string, topic: string, position: string | undefined): Promise<readonly Event[]> => {
  if (!may('audit.getAuditEvents')) return [];
  const ask = async (query: object) => (await call('audit.getAuditEvents', { query })).body.results;
  const newest = source !== '' && topic !== '' ? await ask({ source, topic, limit: 25 }) : [];
  if (position === undefined || newest.some((event) => String(event.position) === position)) return newest;
  const older = await ask({ until: position, limit: 1 });
  return [...newest, ...older.filter((event) => String(event.position) === position)];
};

const placeOf = (reason: Reason): string => ('path' in reason && typeof reason.path === 'string' ? reason.path : '');

const OneAnswer = ({ found: { matches, reasons, variables } }: { readonly found: Explained }) => html`
  <p role="status"><strong>${matches ? 'It would fire.' : 'It would not fire.'}</strong></p>
  ${
    reasons.length > 0 &&
    html`<${Table} label="Reasons" rows=${reasons} keyOf=${(reason: Reason) => JSON.stringify(reason)}
    columns=${[
      { title: 'Place', cell: placeOf },
      { title: 'Reason', kind: 'wide', cell: (reason: Reason) => reason.message },
    ]} />`
  }
  ${variables && html`<h3>Variables of the job</h3><${Json} value=${variables} label="Variables of the job" />`}`;

const AllAnswers = ({ found }: { readonly found: readonly OfTrigger[] }) => {
  const count = found.filter(({ matches }) => matches).length;
  return html`<p role="status"><strong>${count === 0 ? 'No trigger would fire.' : `${count} of ${found.length} triggers of the topic would fire.`}</strong></p>
    <${Table} label="Triggers of the topic" rows=${found} keyOf=${({ trigger }: OfTrigger) => trigger} empty="No trigger that you may read waits for the topic."
    columns=${[
      {
        title: 'Trigger',
        kind: 'wide',
        cell: ({ trigger, name }: OfTrigger) => html`<${Link} to=${['triggers', trigger]}>${name}</${Link}>`,
      },
      {
        title: 'Outcome',
        cell: ({ matches }: OfTrigger) => html`<${Status} word=${matches ? 'fires' : 'does not fire'} />`,
      },
      {
        title: 'Reasons',
        kind: 'wide',
        cell: ({ reasons }: OfTrigger) =>
          reasons.map(
            (reason) =>
              html`<div key=${JSON.stringify(reason)}>${placeOf(reason) && `${placeOf(reason)}: `}${reason.message}</div>`,
          ),
      },
    ]} />`;
};

const askAll = async (
  body: NonNullable<Operations['operations-manager.testEvents']['input']['body']>,
  topic: string,
) => {
  const { data } = (await call('operations-manager.testEvents', { body })).body;
  if (data.length === 0 || !may('operations-manager.getTriggers'))
    return data.map((one) => ({ ...one, name: one.trigger }));
  const query = { multiEquals: { topic }, limit: 100 };
  const names = new Map(
    (await read('operations-manager.getTriggers', { query })).data.map(({ _id, name }) => [_id, name]),
  );
  return data.map((one) => ({ ...one, name: names.get(one.trigger) ?? one.trigger }));
};

type Change = Parameters<typeof setQuery>[0];

type NameProps = {
  readonly name: 'source' | 'topic';
  readonly title: string;
  readonly change: (changes: Change) => void;
};

const NameField = ({ name, title, change }: NameProps) => {
  const type = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void =>
    change({ [name]: currentTarget.value, position: undefined });
  return html`<label class="field">${title}<input value=${place.value.query[name] ?? ''} onInput=${type} autocomplete="off" /></label>`;
};

/**
 * An event is chosen from the log, or it is typed; the platform says if it would fire the trigger, and why not. Without
 * a trigger: of all triggers of the topic. Nothing is published. The address has all but the payload.
 */
export const TestBench = ({ trigger }: { readonly trigger?: EventTrigger }) => {
  const { query } = place.value;
  const { source = '', topic = '' } = trigger ?? query;
  const [text, setText] = useState('{}');
  const [found, setFound] = useState<Explained | readonly OfTrigger[]>();
  const events = useLoaded(() => loadEvents(source, topic, query.position), [source, topic, query.position], {
    when: (event) => event.source === source && event.topic === topic,
  });
  const choice = events.value?.find(({ position }) => String(position) === query.position);
  const change = (changes: Change): void => {
    setFound(undefined);
    setQuery(changes);
  };
  const choose = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }): void =>
    change({ position: currentTarget.value });
  const type = ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }): void => {
    setText(currentTarget.value);
    change({ position: undefined });
  };
  const test = async (): Promise<void> => {
    setFound(undefined);
    // The payload that is shown has masks in place of secrets.
    const position = choice && { position: choice.position };
    if (trigger) {
      const body = position ?? { payload: payloadIn(text) };
      setFound((await call('operations-manager.testTrigger', { path: { id: trigger._id }, body })).body.data);
    } else setFound(await askAll(position ?? { source, topic, payload: payloadIn(text) }, choice?.topic ?? topic));
  };
  const operation = trigger ? 'operations-manager.testTrigger' : 'operations-manager.testEvents';
  return html`<${Section} title="Test bench">
    <p class="quiet">Nothing is published, and no job starts.</p>
    ${!trigger && html`<${NameField} name="source" title="Source of the event" change=${change} /><${NameField} name="topic" title="Topic of the event" change=${change} />`}
    ${(events.value ?? []).length > 0 && html`<label class="field">Event of the log<select value=${choice ? query.position : ''} onChange=${choose}><option value="">none: the payload is typed</option>${events.value?.map(({ id, at, position }) => html`<option key=${id} value=${position}>${at === null ? 'no time' : new Date(at).toLocaleString('sv')}, position ${position}</option>`)}</select></label>`}
    <label class="field">Payload of an event<textarea class="code" rows="6" spellcheck=${false} value=${choice ? JSON.stringify(choice.data, null, 2) : text} onInput=${type}></textarea></label>
    <div class="actions"><${Action} label="Test" kind="main" operation=${operation} does=${test} /></div>
    ${found && ('matches' in found ? html`<${OneAnswer} found=${found} />` : html`<${AllAnswers} found=${found} />`)}
  </${Section}>`;
};
