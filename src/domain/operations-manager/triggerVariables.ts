import { isObject, type Members, step } from '@automation-platform/json';
import { defined } from '../engine/defined.ts';
import { RequestError } from '../engine/requestError.ts';
import { isSealed, type Sealed } from '../engine/sealed.ts';
import { isSecretName, mask, openSecrets } from '../engine/secretFields.ts';
import { type Variables, withoutOrigin } from './jobs.ts';
import type { TriggerContent } from './triggerMembers.ts';

/*
 * The variables of a job that a trigger starts (docs/triggers.md).
 */

/** The incoming value of a run: the body of a request, form data, or the payload of an event. */
export type Incoming = { readonly body: unknown } | { readonly formData: unknown } | { readonly payload: unknown };

/** An event as the variables of its jobs name it. */
export type FiringEvent = {
  /** Null for an event that is only tried. */
  readonly id: string | null;
  readonly source: string;
  readonly topic: string;
  readonly position: number | null;
  readonly at: string | null;
  /** Null: another program stored the event, no account of the platform. */
  readonly actor?: null;
};

/** The variables before the transformation. Throws `invalid` for a body that is no object. */
export const variablesOf = (content: TriggerContent, incoming: Incoming): Variables => {
  if ('body' in incoming) {
    if (!isObject(incoming.body)) throw new RequestError('invalid', 'The body must be an object', { path: '' });
    return incoming.body;
  }
  const wraps = !('legacyWrapper' in content) || content.legacyWrapper !== false;
  if ('payload' in incoming) {
    const { payload } = incoming;
    return wraps || !isObject(payload) ? { payload } : payload;
  }
  const formData = incoming.formData ?? {};
  return wraps || !isObject(formData) ? { formData } : formData;
};

/** The variables with those that the platform adds in place of variables with the same names. */
export const withOrigin = (
  variables: Variables,
  { id, content: { name, type } }: { readonly id: string; readonly content: Pick<TriggerContent, 'name' | 'type'> },
  event?: FiringEvent,
): Variables => {
  const named = { ...withoutOrigin(variables), _trigger: { id, name, type } };
  if (!event) return named;
  const { source, topic, position, at, actor } = event;
  return { ...named, _event: { id: event.id, source, topic, position, at, ...defined({ actor }) } };
};

const documentMembers = ['incoming', 'outgoing', 'steps'] as const;

/** A transformation document in a trigger. It need have no name. */
type InlineTransformation = Members & { readonly [part in (typeof documentMembers)[number]]: readonly unknown[] };

/** The transformation that the member `jst` of a trigger, or of a part of one, names. `refused`: why a run cannot do it. */
export type Transformation =
  | { readonly kind: 'none' }
  | { readonly kind: 'jsonata'; readonly expression: string }
  | { readonly kind: 'document'; readonly document: InlineTransformation }
  | { readonly kind: 'named'; readonly idOrName: string }
  | { readonly kind: 'refused'; readonly reason: string };

export const transformationOf = (content: object): Transformation => {
  const jst: unknown = 'jst' in content ? content.jst : null;
  if (jst === null || jst === undefined) return { kind: 'none' };
  if (typeof jst === 'string' && jst !== '') return { kind: 'named', idOrName: jst };
  if (isObject(jst) && jst.type === 'jsonata' && typeof jst.expression === 'string')
    return { kind: 'jsonata', expression: jst.expression };
  if (isObject(jst) && documentMembers.every((name) => Array.isArray(jst[name])))
    return { kind: 'document', document: jst as InlineTransformation };
  return { kind: 'refused', reason: 'The transformation has no form that this version knows' };
};

/**
 * The value with a token in the place of each sealed secret. So a transformation can move secrets, but not look at
 * them. Nobody can guess `word`.
 */
export const hideSealed = (value: unknown, word: string): { readonly open: unknown; readonly hidden: Sealed[] } => {
  const hidden: Sealed[] = [];
  const within = (one: unknown): unknown => {
    if (isSealed(one)) return { [word]: hidden.push(one) - 1 };
    if (Array.isArray(one)) return one.map(within);
    return isObject(one) ? mapped(one, (_, member) => within(member)) : one;
  };
  return { open: within(value), hidden };
};

const mapped = (members: Members, by: (name: string, member: unknown) => unknown): Members =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, by(name, member)]));

/**
 * The value with the sealed secrets again. Throws `unprocessable` where a secret has become a part of a text or of
 * another object: it would be lost.
 */
export const showSealed = (value: unknown, word: string, hidden: readonly Sealed[], path = ''): unknown => {
  if (Array.isArray(value)) return value.map((item, i) => showSealed(item, word, hidden, `${path}/${i}`));
  if (!isObject(value)) {
    if (typeof value === 'string' && value.includes(word)) throw lost(path);
    return value;
  }
  if (Object.hasOwn(value, word)) {
    const secret = hidden[value[word] as number];
    if (secret && Object.keys(value).length === 1) return secret;
    throw lost(path);
  }
  return mapped(value, (name, member) => {
    if (name.includes(word)) throw lost(path);
    return showSealed(member, word, hidden, path + step(name));
  });
};

const lost = (path: string): RequestError =>
  new RequestError('unprocessable', 'A secret can be moved, but it cannot be a part of a text or of another object', {
    path,
  });

/**
 * The value with open secrets inside of secrets. A secret that is no text is sealed as JSON text, in which nothing else
 * may be sealed.
 */
export const openInSecrets = (value: unknown, unseal: (sealed: Sealed) => string): unknown => {
  if (Array.isArray(value)) return value.map((item) => openInSecrets(item, unseal));
  if (!isObject(value) || isSealed(value)) return value;
  return mapped(value, (name, member) => {
    const opens = isSecretName(name) && typeof member === 'object' && !isSealed(member);
    return opens ? openSecrets(member, unseal) : openInSecrets(member, unseal);
  });
};

/** The places of the secrets that an import has left out, as JSON pointers. */
export const missingIn = (value: unknown, path = ''): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap((item, i) => missingIn(item, `${path}/${i}`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    isSecretName(name) && member === mask ? [path + step(name)] : missingIn(member, path + step(name)),
  );
};
