import { adapterReplacementSchema, newAdapterSchema } from '../../domain/configuration-manager/adapterSchemas.ts';
import {
  type AdapterState,
  adapter,
  create,
  provideLab as provide,
  remove,
  replace,
  sealProperties,
} from '../../domain/configuration-manager/adapters.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { by, type Kind } from '../engine/kinds.ts';
import { namingCredentials } from './credentials.ts';

const command = commandsOf(adapter);

type Input = Parameters<typeof sealProperties>[1];

const prepare = async (
  { state, input }: { readonly state: AdapterState; readonly input: Input },
  { seal }: Pick<Tools, 'seal'>,
) => ({ properties: () => sealProperties(state, input, seal) });

const named = ({ properties }: Input) => [properties, '/properties'] as const;

export const createAdapter = command({
  name: 'createAdapter',
  input: newAdapterSchema,
  on: 'new',
  ...namingCredentials({ named, prepare, decide: create }),
});
export const replaceAdapter = command({
  name: 'replaceAdapter',
  input: adapterReplacementSchema,
  on: 'existing',
  ...namingCredentials({ named, prepare, decide: replace }),
});
export const deleteAdapter = command({ name: 'deleteAdapter', input: noInput, on: 'existing', decide: remove });

/** Creates the simulated adapter of the first start. */
export const provideLab = command({ name: 'provideLab', input: noInput, on: 'any', decide: provide });

export const adapterKind: Kind = { of: adapter, restore: { there: by(replaceAdapter), deleted: by(createAdapter) } };
