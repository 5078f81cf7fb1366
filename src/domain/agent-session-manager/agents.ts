import { step } from '@automation-platform/json';
import { Type } from 'typebox';
import { isSetByCall } from '../engine/callHeaders.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import type { Sealed } from '../engine/sealed.ts';
import { sealBy } from '../engine/secretFields.ts';
import { anyMembers, nothing, sealed, text, topicsOf, typed } from '../engine/topics.ts';
import { defaultTimeout, type NewAgent } from './agentSchemas.ts';

type Headers = Readonly<Record<string, Sealed>>;

const content = Type.Object({
  name: text,
  description: text,
  inputSchema: anyMembers,
  runner: typed<NewAgent['runner']>()(text),
  timeout: Type.Number({ description: 'Seconds' }),
  url: Type.Optional(text),
  headers: Type.Optional(Type.Record(Type.String(), sealed)),
  template: Type.Optional(text),
});
export type AgentContent = SchemaData<typeof content>;

const topics = topicsOf({
  agentCreated: ['An agent was created', content],
  agentReplaced: ['An agent got new content', content],
  agentDeleted: ['An agent was deleted', nothing],
});
export type AgentEvent = EventOf<typeof topics>;

export type AgentState = { readonly content?: AgentContent };

const agentState = (_: unknown, content: AgentContent): AgentState => ({ content });

/** An agent: a webhook or a template that carries sessions out. */
export const agent = aggregate<AgentState, AgentEvent>({
  area: 'agent-session-manager',
  category: 'agent',
  topics,
  initial: {},
  evolve: { agentCreated: agentState, agentReplaced: agentState, agentDeleted: () => ({}) },
  exists: ({ content }) => content !== undefined,
  names: ({ content }) => (content ? [{ kind: 'agent', name: content.name }] : []),
});

/**
 * The headers with sealed values. The mask keeps a value only while the URL stays the same. Otherwise anybody who may
 * change the agent could send its credentials to a server of their own.
 */
export const sealHeaders = (
  { content }: AgentState,
  { url, headers }: NewAgent,
  seal: (secret: string) => Sealed,
): Headers | undefined =>
  headers &&
  (sealBy(() => true, {
    value: headers,
    befores: [content?.url === url ? content?.headers : undefined],
    seal,
    path: '/headers',
    keepsEqual: true,
  }) as Headers);

/**
 * The data that decisions on an agent need. `schemaFault`: why the schema cannot be compiled. `headers`: gives the result
 * of `sealHeaders`; throws what that throws, which a retry must not meet. `referrers`: those that name the agent by a
 * name that it loses.
 */
export type AgentRefs = {
  readonly schemaFault?: string | undefined;
  readonly headers: () => Headers | undefined;
  readonly referrers: readonly Referrer[];
};

const refuseHeaders = (names: readonly string[]): void => {
  const earlier = new Set<string>();
  for (const name of names) {
    const lower = name.toLowerCase();
    const refuse = (fault: string): never => {
      throw new RequestError('invalid', `The header ${name} ${fault}`, { path: `/headers${step(name)}` });
    };
    if (isSetByCall(lower) || lower === 'content-type') refuse('is set by the call itself');
    if (earlier.has(lower)) refuse('is there twice');
    earlier.add(lower);
  }
};

const checked = (
  { name, description = '', inputSchema, runner, url, template, timeout = defaultTimeout }: NewAgent,
  { schemaFault, headers: seal }: AgentRefs,
): AgentContent => {
  if (schemaFault !== undefined)
    throw new RequestError('invalid', `The schema cannot be used: ${schemaFault}`, { path: '/inputSchema' });
  if (url !== undefined && !URL.canParse(url)) throw new RequestError('invalid', 'It is not a URL', { path: '/url' });
  const headers = seal();
  refuseHeaders(Object.keys(headers ?? {}));
  return defined({ name, description, inputSchema, runner, timeout, url, headers, template });
};

export const create = (_: AgentState, input: NewAgent, { refs }: Context<AgentRefs>): readonly AgentEvent[] => [
  { topic: 'agentCreated', data: checked(input, refs) },
];

export const replace = (
  { content }: AgentState,
  input: NewAgent,
  { refs }: Context<AgentRefs>,
): readonly AgentEvent[] => {
  const newContent = checked(input, refs);
  if (same(content, newContent)) return [];
  refuseReferred(refs.referrers, 'renamed');
  return [{ topic: 'agentReplaced', data: newContent }];
};

export const remove = (
  _: AgentState,
  __: unknown,
  { refs }: Context<Pick<AgentRefs, 'referrers'>>,
): readonly AgentEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return [{ topic: 'agentDeleted', data: {} }];
};
