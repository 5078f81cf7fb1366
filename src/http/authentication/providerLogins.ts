import { randomUUID } from 'node:crypto';
import { turns } from '@automation-platform/concurrency';
import { provisionAccount } from '../../commands/authorization/accounts.ts';
import type { ProvisionInput } from '../../domain/authorization/accounts.ts';
import { same } from '../../domain/engine/changes.ts';
import type { Actor, Via } from '../../domain/engine/core.ts';
import { groupMappingId } from '../../domain/group-mappings/groupMappings.ts';
import type { Node } from '../../node.ts';
import { accounts, externalIds, externalKey } from '../../projections/authorization/accounts.ts';
import { type LdapProvider, type Provider, providers } from '../../projections/authorization/providers.ts';
import { documentOf, documentsOf } from '../../projections/engine/documents.ts';
import { groupMappings } from '../../projections/group-mappings/groupMappings.ts';
import { DirectorySilent } from '../../southbound/directory.ts';
import { providerFailure, reasonOf } from '../../southbound/failure.ts';
import { IssuerSilent } from '../../southbound/issuerFetch.ts';
import { TokenRefused } from '../../southbound/openId.ts';
import type { Asked, Directory, DirectoryAnswer, OpenId, Person } from '../../southbound/port.ts';
import { derivedId } from '../../store/derivedIds.ts';
import type { Known, LoginSettings } from './principal.ts';
import type { Principals } from './principals.ts';
import { LoginRefused, ProviderSilent } from './refusals.ts';

type Needs = {
  readonly node: Node;
  readonly accounts: Principals;
  readonly directory: Directory;
  readonly openId: OpenId;
  readonly settings: () => LoginSettings;
};

/** A person whom a provider has verified, with what it says of them. */
type Admission = {
  readonly person: Omit<Person, 'dn' | 'memberOf'>;
  readonly externalGroups: readonly string[];
  /** They asked for this provider by its name. */
  readonly isQualified: boolean;
  readonly via: Via;
  /** When the provider has said so, in milliseconds; now if undefined. */
  readonly saidAt?: number | undefined;
};

const isDirectory = (provider: Provider): provider is LdapProvider => provider.type === 'ldap';

/** Gives the answer of a provider. Throws `ProviderSilent` if it gives none, and `unauthenticated` if it vouches for nobody. */
const answerReader =
  (warn: Node['warn']) =>
  async <T>({ name: provider }: Provider, ask: () => Promise<T>): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof TokenRefused) {
        warn('A login by an authentication provider was refused', { provider, reason: error.message });
        throw new LoginRefused('unauthenticated', 'The authentication provider does not vouch for this');
      }
      warn('An authentication provider does not answer', { provider, reason: String(error) });
      throw new ProviderSilent(provider);
    }
  };

/** Asks authentication providers for callers whom no local account names, and makes their accounts. */
export const providerLogins = ({ node, accounts: principals, directory, openId, settings }: Needs) => {
  const { model, tools, handle, settled } = node;
  const answerOf = answerReader(node.warn);
  const turn = turns();

  // Every login needs them, and they hardly ever change.
  let latest: Promise<readonly Provider[]> | undefined;
  const readEnabled = async (): Promise<readonly Provider[]> => {
    const all = await tools.query(providers, { field: 'enabled', op: 'equals', value: 'true' });
    return [...all].sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1));
  };
  const enabledOnes = (): Promise<readonly Provider[]> => {
    const reading = latest ?? readEnabled();
    latest = reading;
    reading.catch(() => {
      if (latest === reading) latest = undefined;
    });
    return reading;
  };

  const directories = async (): Promise<readonly LdapProvider[]> => (await enabledOnes()).filter(isDirectory);

  /** The directories to ask in their order, and the name to ask for: `provider\name` asks one. */
  const providersFor = async (username: string) => {
    const [all, name] = [await directories(), username.normalize('NFKC')];
    const at = name.indexOf('\\');
    const one = all.find((provider) => provider.name === name.slice(0, Math.max(at, 0)));
    return one ? { list: [one], name: name.slice(at + 1), isQualified: true } : { list: all, name, isQualified: false };
  };

  /** The account that an admin has made for this provider, and that the provider has not taken over yet. */
  const madeByHand = async (provenance: string, username: string): Promise<string | undefined> => {
    const found = await tools.query(accounts, { field: 'username', op: 'equals', value: username });
    return found.find((one) => one.provenance === provenance && one.type !== 'service')?._id;
  };

  /** The id of the account of a person; undefined if they have none and may not get one. */
  const idOf = async (key: string, provenance: string, username: string, isQualified: boolean) => {
    const [own] = await model.idsNamed(externalIds.collection, key);
    if (own !== undefined) return own;
    const byHand = isQualified ? await madeByHand(provenance, username) : undefined;
    return byHand ?? (settings().brokerPrincipal ? derivedId(key) : undefined);
  };

  /** Stores what a provider says of a person, if it differs from what is stored, and nothing newer is. */
  const noteAnswer = async (id: string, input: ProvisionInput, { via, saidAt }: Pick<Admission, 'via' | 'saidAt'>) => {
    const { username, provenance, ...now } = input;
    const doc = await documentOf(model, accounts, id);
    if (doc && same({ ...doc, ...now }, doc)) return;
    const isOlder = saidAt !== undefined && doc !== undefined && saidAt <= Date.parse(doc.lastUpdated);
    if (isOlder && doc.externalId === input.externalId) return;
    const actor: Actor = { id, username, provenance, groups: [], admin: false, via };
    const about = { operation: 'provisionAccount', requestId: randomUUID(), fresh: doc === undefined };
    await handle(provisionAccount, { id, input, actor, ...about });
    await settled();
    // The log and the read models let many go on at once.
    await turn();
  };

  /** The account of a person whom the provider has verified, with what the provider says of them now. */
  const admit = async (
    { name: provenance }: Provider,
    { person, externalGroups, isQualified, via, saidAt }: Admission,
  ): Promise<Known | undefined> => {
    const { externalId, username, firstname, email } = person;
    await turn();
    const id = await idOf(externalKey(provenance, externalId), provenance, username, isQualified);
    if (id === undefined) return undefined;
    await noteAnswer(id, { provenance, username, externalId, externalGroups, firstname, email }, { via, saidAt });
    return principals.load(id);
  };

  const askDirectory = async (provider: Provider, person: Asked): Promise<DirectoryAnswer> => {
    if (provider.type === 'ldap') return directory(provider, person);
    await openId.probe(provider);
    return undefined;
  };

  return {
    /** Call when a provider has changed, and again once that can be read. */
    providerChanged: (): void => {
      latest = undefined;
    },
    enabledOnes,
    answerOf,
    admit,
    /** Asks a provider about a person. Nothing is stored. Throws `adapter_failed` if it does not answer. */
    ask: async (provider: Provider, person: Asked) => {
      const answer = await askDirectory(provider, person).catch((error: unknown) => {
        const isSilent = error instanceof DirectorySilent || error instanceof IssuerSilent;
        throw providerFailure(provider.name, isSilent ? error.message : reasonOf(error));
      });
      const { externalGroups = [], authenticated = null } = answer ?? {};
      const ids = externalGroups.map((name) => groupMappingId(provider.name, name));
      const mappings = await documentsOf(model, groupMappings, ids);
      const platformGroups = [...new Set(mappings.flatMap((mapping) => mapping.platformGroups))].sort();
      const username = answer?.person.username ?? null;
      return { found: answer !== undefined, authenticated, username, externalGroups, platformGroups };
    },
    /** True if there is a directory that knows passwords. */
    areThere: async (): Promise<boolean> => (await directories()).length > 0,
    /**
     * The account of who has sent this name and password; undefined if no provider knows the name, or the first that does
     * knows another password. Throws `ProviderSilent`.
     */
    verify: async ({
      username,
      password,
    }: Required<Pick<Asked, 'username' | 'password'>>): Promise<Known | undefined> => {
      const { list, name, isQualified } = await providersFor(username);
      let silent: ProviderSilent | undefined;
      for (const provider of list) {
        const asking = answerOf(provider, () => directory(provider, { username: name, password }));
        const answer = await asking.catch((error: unknown) => {
          if (!(error instanceof ProviderSilent)) throw error;
          silent ??= error;
          return undefined;
        });
        if (answer) return answer.authenticated ? admit(provider, { ...answer, isQualified, via: 'ldap' }) : undefined;
      }
      if (silent) throw silent;
      return undefined;
    },
    /**
     * Asks again about the person of an account, without a password, and notes their groups: none if they are not there any
     * more. Returns true if they are. Throws `ProviderSilent`.
     */
    askAgain: async (id: string): Promise<boolean> => {
      const doc = await documentOf(model, accounts, id);
      if (doc?.externalId === undefined) return false;
      const { provenance, username, externalId, firstname, email } = doc;
      const provider = (await enabledOnes()).find(({ name }) => name === provenance);
      if (!provider) return false;
      // An issuer cannot be asked: the person says so anew with each login.
      if (!isDirectory(provider)) return true;
      const prefix = `${provenance}\\`;
      const name = username.startsWith(prefix) ? username.slice(prefix.length) : username;
      const answer = await answerOf(provider, () => directory(provider, { username: name, externalId }));
      const { externalGroups = [], person = { firstname, email } } = answer ?? {};
      const now = { externalGroups, firstname: person.firstname, email: person.email };
      await noteAnswer(id, { provenance, username, externalId, ...now }, { via: 'ldap' });
      return answer !== undefined;
    },
  };
};

export type ProviderLogins = ReturnType<typeof providerLogins>;
