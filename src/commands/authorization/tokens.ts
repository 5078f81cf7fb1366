import { Type } from 'typebox';
import { logIn as enter, logOut as leave, login, use as useOne } from '../../domain/authorization/logins.ts';
import { create, newTokenSchema, remove, token, use, withinInventories } from '../../domain/authorization/tokens.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { accounts, credentials } from '../../projections/authorization/accounts.ts';
import { tokenHashes } from '../../projections/authorization/tokens.ts';
import { inventories } from '../../projections/inventory-manager/inventories.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { queryAll } from '../engine/tools.ts';
import { tokenHash, tokenText } from './tokenTexts.ts';

const ofLogin = commandsOf(login);

export const logIn = ofLogin({
  name: 'logIn',
  input: Type.Object({ account: Type.String(), credential: Type.String() }),
  on: 'new',
  decide: enter,
});
export const useLogin = ofLogin({ name: 'useLogin', on: 'existing', decide: useOne });
export const logOut = ofLogin({
  name: 'logOut',
  input: Type.Object({
    reason: Type.Union([Type.Literal('logout'), Type.Literal('replaced'), Type.Literal('expired')]),
  }),
  on: 'existing',
  decide: leave,
});

const command = commandsOf(token);

const accountOf = async (tools: Tools, id: string | undefined) => {
  if (id === undefined) return undefined;
  const [account, credential] = await Promise.all([tools.shown(accounts, id), tools.shown(credentials, id)]);
  return account && credential
    ? { id, isService: account.type === 'service', deactivated: credential.deactivated ?? 0 }
    : undefined;
};

/** The tokens of an account that are in force. */
const inForceOf = async (tools: Tools, id: string | undefined, now: string): Promise<number> => {
  if (id === undefined) return 0;
  const all = await queryAll(tools, tokenHashes, { field: 'account', op: 'equals', value: id });
  return all.filter(({ expires }) => expires > now).length;
};

const inventoryOf = async (tools: Tools, idOrName: string, actor: Actor): Promise<string | undefined> => {
  const id = await tools.find(inventories, idOrName);
  const doc = id === undefined ? undefined : await tools.shown(inventories, id);
  return doc && tools.mayRead(inventories, doc, actor) ? id : undefined;
};

/** `secret` has 256 random bits: 43 characters of base64url. */
export const createToken = command({
  name: 'createToken',
  input: Type.Object({ ...newTokenSchema.properties, secret: Type.String() }, { additionalProperties: false }),
  on: 'new',
  locks: () => 'tokens',
  prepare: async ({ id, input: { account, methods = [], inventories: names, secret }, actor, now }, tools) => {
    const all = new Set(tools.methods().map(({ name }) => name));
    const owner = account === undefined ? actor.id : await tools.find(accounts, account);
    return {
      account: await accountOf(tools, owner),
      inForce: await inForceOf(tools, owner, now),
      inventories: names && (await Promise.all(names.map((name) => inventoryOf(tools, name, actor)))),
      unknownMethods: methods.filter((name) => !all.has(name)),
      hash: tokenHash(tokenText(id, secret)),
    };
  },
  decide: create,
});

/** The account as a token of some inventories lets it act in the jobs that it has started, also after its end. */
export const withinToken =
  ({ state }: Pick<Tools, 'state'>) =>
  async (actor: Actor, id: string): Promise<Actor> => {
    const { inventories: bounds } = await state(token, id);
    return bounds ? withinInventories({ ...actor, via: 'token', token: id }, bounds) : actor;
  };

export const useToken = command({
  name: 'useToken',
  input: Type.Object({ address: Type.String() }),
  on: 'existing',
  decide: use,
});

export const deleteToken = command({ name: 'deleteToken', on: 'existing', decide: remove });
