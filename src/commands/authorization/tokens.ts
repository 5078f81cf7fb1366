import { Type } from 'typebox';
import { create, newTokenSchema, remove, token, use } from '../../domain/authorization/tokens.ts';
import { accounts, credentials } from '../../projections/authorization/accounts.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { tokenHash, tokenText } from './tokenTexts.ts';

const command = commandsOf(token);

const accountOf = async (tools: Tools, id: string | undefined) => {
  if (id === undefined) return undefined;
  const [account, credential] = await Promise.all([tools.shown(accounts, id), tools.shown(credentials, id)]);
  return account && credential
    ? { id, isService: account.type === 'service', deactivated: credential.deactivated ?? 0 }
    : undefined;
};

/** `secret` has 256 random bits: 43 characters of base64url. */
export const createToken = command({
  name: 'createToken',
  input: Type.Object({ ...newTokenSchema.properties, secret: Type.String() }, { additionalProperties: false }),
  on: 'new',
  prepare: async ({ id, input: { account, methods = [], secret }, actor }, tools) => {
    const all = new Set(tools.methods().map(({ name }) => name));
    return {
      account: await accountOf(tools, account === undefined ? actor.id : await tools.find(accounts, account)),
      unknownMethods: methods.filter((name) => !all.has(name)),
      hash: tokenHash(tokenText(id, secret)),
    };
  },
  decide: create,
});

export const useToken = command({
  name: 'useToken',
  input: Type.Object({ address: Type.String() }),
  on: 'existing',
  decide: use,
});

export const deleteToken = command({ name: 'deleteToken', input: noInput, on: 'existing', decide: remove });
