import { Type } from 'typebox';
import { logIn as enter, logOut as leave, login, use } from '../../domain/authorization/logins.ts';
import { commandsOf, noInput } from '../engine/define.ts';

const command = commandsOf(login);

export const logIn = command({
  name: 'logIn',
  input: Type.Object({ account: Type.String(), credential: Type.String() }),
  on: 'new',
  decide: enter,
});
export const useLogin = command({ name: 'useLogin', input: noInput, on: 'existing', decide: use });
export const logOut = command({
  name: 'logOut',
  input: Type.Object({
    reason: Type.Union([Type.Literal('logout'), Type.Literal('replaced'), Type.Literal('expired')]),
  }),
  on: 'existing',
  decide: leave,
});
