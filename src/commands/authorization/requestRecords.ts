import { Type } from 'typebox';
import {
  type Counted,
  type DeniedRequest,
  denied,
  type HandOut,
  handedOut,
} from '../../domain/authorization/requestRecords.ts';
import { commandsOf } from '../engine/define.ts';

/** Stores the requests that were refused in some seconds. */
export const noteDenials = commandsOf(denied)({
  name: 'noteDenials',
  input: Type.Unsafe<Counted<DeniedRequest>>({}),
  on: 'any',
  decide: (_, data) => [{ topic: 'requestsDenied', data }],
});

/** Stores to whom secrets were given in some seconds. */
export const noteSecrets = commandsOf(handedOut)({
  name: 'noteSecrets',
  input: Type.Unsafe<Counted<HandOut>>({}),
  on: 'any',
  decide: (_, data) => [{ topic: 'secretsHandedOut', data }],
});

/** Stores the exports of some seconds. */
export const noteExports = commandsOf(handedOut)({
  name: 'noteExports',
  input: Type.Unsafe<Counted<HandOut>>({}),
  on: 'any',
  decide: (_, data) => [{ topic: 'exported', data }],
});
