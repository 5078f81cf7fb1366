import { setImmediate as nextTurn } from 'node:timers/promises';
import { exactText } from '@automation-platform/json';
import { type TSchema, Type } from 'typebox';
import {
  type Explained,
  explainer,
  imagined,
  reasonCodes,
  recorded,
  type TestEvent,
  type TestedTrigger,
} from '../../commands/operations-manager/triggerTests.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { name } from '../../domain/engine/schemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { documentIn, pagesOf } from '../../projections/engine/documents.ts';
import { readableBy } from '../../projections/engine/guards.ts';
import { type TriggerDoc, triggers } from '../../projections/operations-manager/triggers.ts';
import { BadEvent } from '../../store/event.ts';
import type { Principal } from '../authentication/principal.ts';
import { withMessage } from '../engine/envelopes.ts';
import type { Call, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import type { Service } from '../engine/service.ts';

const tested = withMessage('Successfully tested');

const reasons = Type.Array(
  Type.Object(
    {
      code: Type.Enum([...reasonCodes], { description: 'The condition that does not hold' }),
      path: Type.Optional(Type.String({ description: 'Place in the payload, as a JSON pointer' })),
      message: Type.String({ description: 'Why, in words' }),
    },
    { title: 'TriggerTestReason', description: 'Why a trigger does not fire' },
  ),
  { description: 'All that does not fit; empty if the trigger fires' },
);
const matches = Type.Boolean({ description: 'True if the event fires the trigger' });
const payload = Type.Unknown({ description: 'Payload of an event: any JSON' });
const position = Type.Integer({ minimum: 0, description: 'Position of an event in the log' });

/** An event trigger from its document; undefined for a trigger of another type. */
const testedIn = (doc: TriggerDoc): TestedTrigger | undefined =>
  doc.type === 'eventSystem' ? { id: doc._id, content: doc, account: doc.lastUpdatedBy } : undefined;

/** Explains an event to the caller. */
const explaining = ({ actor, abandoned }: Pick<Call, 'actor' | 'abandoned'>, service: Service) => {
  const { filters, runs, tools, events } = service;
  const explain = explainer<Principal>({
    filters,
    variables: runs.variables,
    state: tools.state,
    viewerOf: events.viewerOf,
    sees: events.sees,
  });
  const signal = abandoned();
  return async (trigger: TestedTrigger, event: TestEvent): Promise<Explained> => {
    signal.throwIfAborted();
    return explain(trigger, event, { account: actor.id, actor: async () => actor, signal });
  };
};

/** The event at a position. Throws `not_found` for one that the caller may not see, and for one that nobody can read. */
const eventAt = async (position: number, principal: Principal | undefined, service: Service): Promise<TestEvent> => {
  const missing = () => new RequestError('not_found', 'You see no event at this position', { path: '/position' });
  const stored = await service.events.at(position);
  if (!stored || !principal || !(await service.events.sees(principal, stored))) throw missing();
  try {
    return await recorded(stored, service.tools.state);
  } catch (error) {
    throw error instanceof BadEvent ? missing() : error;
  }
};

type Sent = {
  readonly source?: string;
  readonly topic?: string;
  readonly payload?: unknown;
  readonly position?: number;
};

/** The event at a position, or one that nobody has published. Throws `invalid`, `not_found`. */
const eventOf = async (body: Sent, principal: Principal | undefined, service: Service): Promise<TestEvent> => {
  const { source, topic, payload, position } = body;
  const faulty = (member: string) =>
    new RequestError('invalid', 'Send either position, or source, topic and payload', { path: `/${member}` });
  if (position !== undefined) {
    const others = Object.keys(body).filter((member) => member !== 'position');
    if (others[0] !== undefined) throw faulty(others[0]);
    return eventAt(position, principal, service);
  }
  if (source === undefined || topic === undefined) throw faulty(source === undefined ? 'source' : 'topic');
  if (!('payload' in body)) throw faulty('payload');
  return imagined(source, topic, payload);
};

/** All event triggers of a topic that the caller may read, sorted by id. */
const triggersOf = async (
  topic: string,
  { actor }: Pick<Call, 'actor'>,
  { model }: Service,
): Promise<readonly TestedTrigger[]> => {
  const found: TestedTrigger[] = [];
  const where = { field: 'topic', op: 'equals', value: topic } as const;
  for await (const entries of pagesOf(model, triggers, {
    where,
    sort: 'name',
    order: 1,
    ...readableBy(actor, model),
  })) {
    for (const entry of entries) {
      const trigger = testedIn(documentIn(triggers, entry));
      if (trigger) found.push(trigger);
    }
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1));
};

const object = <P extends Record<string, TSchema>>(members: P, title: string, description: string) =>
  Type.Object(members, { additionalProperties: false, title, description });

/** Why events fire triggers or not (docs/triggers.md). Nothing is stored. */
export const triggerTestRoutes: readonly Route[] = [
  actionRoute({
    name: 'testEvents',
    method: 'post',
    path: '/events/test',
    access: ['operators', 'readers'],
    summary: 'Say which triggers an event would fire',
    description:
      'Of all event triggers of the topic that the caller may read, sorted by id, disabled ones too: those of another ' +
      'source do not match, for that reason. Either position, which names an event of the log that the caller may see, ' +
      'or source, topic and payload. Nothing is stored and nothing starts.',
    body: object(
      {
        source: Type.Optional(name('Source of the event')),
        topic: Type.Optional(name('Topic of the event')),
        payload: Type.Optional(payload),
        position: Type.Optional(position),
      },
      'EventTest',
      'An event that is only tried',
    ),
    answer: enveloped(
      Type.Array(
        Type.Object(
          { trigger: Type.String({ description: 'Id of the trigger' }), matches, reasons },
          { title: 'EventTestResult', description: 'The answer of a trigger to the event' },
        ),
      ),
    ),
    run: async (call, service) => {
      const explain = explaining(call, service);
      const event = await eventOf(call.body, call.principal, service);
      const results: { readonly trigger: string; readonly matches: boolean; readonly reasons: unknown }[] = [];
      for (const trigger of await triggersOf(event.topic, call, service)) {
        const { matches, reasons } = await explain(trigger, event);
        results.push({ trigger: trigger.id, matches, reasons });
        // A filter may have to be compiled. Other requests have their turn.
        await nextTurn();
      }
      return { text: tested(JSON.stringify(results)) };
    },
  }),
  actionRoute({
    name: 'testTrigger',
    method: 'post',
    path: '/triggers/:id/test',
    access: ['operators', 'readers'],
    summary: 'Say whether an event would fire a trigger',
    description:
      'Exactly one of payload and position. payload is that of an event of the source and topic for which the trigger ' +
      'waits. position names an event of the log that the caller may see. Trigger, automation and account count as ' +
      'they are now. Only for event triggers: 409 for others. Nothing is stored and nothing starts.',
    body: object(
      {
        payload: Type.Optional(payload),
        position: Type.Optional(position),
      },
      'TriggerTest',
      'The event by which a trigger is tested',
    ),
    answer: enveloped(
      Type.Object(
        {
          matches,
          reasons,
          variables: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
            description:
              'Variables that the job would get, with masked secrets; null if the event is not one for which the ' +
              'trigger waits, or if the transformation fails',
          }),
        },
        { title: 'TriggerTestResult', description: 'The answer of the trigger to the event' },
      ),
    ),
    run: async (call, service) => {
      const { body, params, actor, principal } = call;
      const { position } = body;
      if ('payload' in body === (position !== undefined))
        throw new RequestError('invalid', 'Send either payload or position', { path: '' });
      const trigger = testedIn(documentIn(triggers, await service.entry(triggers, params.id, actor)));
      if (!trigger) throw new RequestError('conflict', 'Only event triggers can be tested');
      const { source, topic } = trigger.content;
      const event =
        position === undefined ? imagined(source, topic, body.payload) : await eventAt(position, principal, service);
      const { matches, reasons, variables } = await explaining(call, service)(trigger, event);
      return { text: tested(exactText({ matches, reasons, variables: maskSecrets(variables) })) };
    },
  }),
];
