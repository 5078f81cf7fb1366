import { own } from '@automation-platform/json';
import { namesOf } from '../../domain/authorization/groups.ts';
import {
  type CredentialNamed,
  credentialsIn,
  referenceIn,
} from '../../domain/configuration-manager/credentialReferences.ts';
import {
  credentialReplacementSchema,
  newCredentialSchema,
} from '../../domain/configuration-manager/credentialSchemas.ts';
import {
  type CredentialContent,
  type CredentialState,
  create,
  credential,
  remove,
  replace,
  sealCredential,
} from '../../domain/configuration-manager/credentials.ts';
import type { Actor, Context, Event } from '../../domain/engine/core.ts';
import { entriesIn } from '../../domain/engine/layeredMap.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import { type Fault, refuseFaults } from '../../domain/engine/requestError.ts';
import { inventory } from '../../domain/inventory-manager/inventories.ts';
import { adapters } from '../../projections/configuration-manager/adapters.ts';
import { inventories } from '../../projections/inventory-manager/inventories.ts';
import { unknownGroups } from '../authorization/names.ts';
import { mayRead } from '../engine/access.ts';
import { commandsOf, noInput, type Preparing, type Tools } from '../engine/define.ts';
import { by, type Kind } from '../engine/kinds.ts';
import { referrerOf } from '../engine/references.ts';

const command = commandsOf(credential);

/** The lock of decisions on which credentials exist and which of them adapters and nodes name. */
const credentialReferences = 'credentialReferences';

type Sealing = {
  readonly state: CredentialState;
  readonly input: Parameters<typeof sealCredential>[1];
};

const prepare = async ({ state, input }: Sealing, tools: Tools) => ({
  secrets: () => sealCredential(state, input, tools.seal),
  unknownGroups: await unknownGroups(tools, namesOf(input.groups ?? [])),
});

export const createCredential = command({
  name: 'createCredential',
  input: newCredentialSchema,
  on: 'new',
  prepare,
  decide: create,
});
export const replaceCredential = command({
  name: 'replaceCredential',
  input: credentialReplacementSchema,
  on: 'existing',
  prepare,
  decide: replace,
});

/** The adapters and inventories that name a credential. */
const referrersTo = async (name: string, actor: Actor, tools: Tools): Promise<readonly Referrer[]> => {
  const isNamed = (value: unknown): boolean => credentialsIn(value, '').some((one) => one.name === name);
  const referrers: Referrer[] = [];
  for (const doc of await tools.all(adapters))
    if (isNamed(doc.properties)) referrers.push(referrerOf(adapters, doc, actor, tools));
  for (const doc of await tools.all(inventories)) {
    const { nodes } = await tools.state(inventory, doc._id);
    for (const { attributes } of entriesIn(nodes).values())
      if (isNamed(attributes)) {
        referrers.push(referrerOf(inventories, doc, actor, tools));
        break;
      }
  }
  return referrers;
};

export const deleteCredential = command({
  name: 'deleteCredential',
  input: noInput,
  on: 'existing',
  locks: () => credentialReferences,
  prepare: async ({ id, actor }, tools) => ({ referrers: await referrersTo(id, actor, tools) }),
  decide: remove,
});

/** The credential of a name; undefined if nobody has it, or the actor does not see it. */
export const credentialSeenBy = async (
  name: string,
  actor: Actor,
  { state }: Pick<Tools, 'state'>,
): Promise<CredentialContent | undefined> => {
  const { exists, content } = await state(credential, name);
  return exists && content && mayRead(actor, { read: content.groups, write: content.groups }) ? content : undefined;
};

const mostFaults = 20;

const unknownCredentials = async (
  named: readonly CredentialNamed[],
  actor: Actor,
  tools: Pick<Tools, 'state'>,
): Promise<readonly Fault[]> => {
  const found = new Map<string, CredentialContent | undefined>();
  for (const { name } of named) if (!found.has(name)) found.set(name, await credentialSeenBy(name, actor, tools));
  const faultOf = ({ name, reference, path }: CredentialNamed): Fault | undefined => {
    const content = found.get(name);
    if (!content) return { message: `No credential is named ${JSON.stringify(name)}`, path };
    if (reference === undefined) return undefined;
    const { member } = referenceIn(reference);
    if (member && own(content, member) !== undefined) return undefined;
    return { message: `The credential ${JSON.stringify(name)} has no such member`, path };
  };
  return named.flatMap((one) => faultOf(one) ?? []).slice(0, mostFaults);
};

type Naming<State, Input, Refs, E> = {
  /** The part of the input that may name credentials, and its place. */
  readonly named: (input: Input) => readonly [value: unknown, path: string];
  readonly prepare: (request: Preparing<State, Input>, tools: Tools) => Promise<Refs>;
  readonly decide: (state: State, input: Input, context: Context<Refs>) => readonly E[];
};

/**
 * The parts of a command whose input may name credentials: it is `not_found` if the actor does not see one of them. A
 * credential that is named is not deleted at the same time.
 */
export const namingCredentials = <State, Input, Refs, E extends Event>({
  named,
  prepare,
  decide,
}: Naming<State, Input, Refs, E>) => ({
  locks: (_: State, input: Input) => (credentialsIn(...named(input)).length > 0 ? credentialReferences : undefined),
  prepare: async (request: Preparing<State, Input>, tools: Tools) => ({
    unknown: await unknownCredentials(credentialsIn(...named(request.input)), request.actor, tools),
    refs: await prepare(request, tools),
  }),
  decide: (
    state: State,
    input: Input,
    context: Context<{ readonly unknown: readonly Fault[]; readonly refs: Refs }>,
  ) => {
    refuseFaults('not_found', context.refs.unknown);
    return decide(state, input, { ...context, refs: context.refs.refs });
  },
});

export const credentialKind: Kind = {
  of: credential,
  restore: { there: by(replaceCredential), deleted: by(createCredential) },
};
