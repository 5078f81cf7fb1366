import { fail } from '../budget.ts';
import { withMember, withPart } from '../pointers.ts';
import { type Method, method, type Using } from '../signatures.ts';
import { objectOf } from '../values.ts';

const counted = ({ budget }: Using, object: object): readonly [string, unknown][] => {
  const entries = Object.entries(object);
  budget.make(entries.length);
  return entries;
};

const pairOf = (entry: unknown): [string, unknown] => {
  if (!Array.isArray(entry)) return fail('entries: pairs of a name and a value are needed');
  const [name, value] = entry as unknown[];
  return typeof name === 'object' ? fail('entries: a name is a text') : [String(name), value];
};

export const objects: Readonly<Record<string, Method>> = {
  'Object.assign': method('object: object, ...more: object -> object', (using, object: object, ...more: object[]) =>
    objectOf([object, ...more].flatMap((one) => counted(using, one))),
  ),
  'Object.deleteProperty': method('object: object, name: text -> object', (using, object: object, name: string) =>
    Array.isArray(object)
      ? fail('object: it must not be a list')
      : objectOf(counted(using, object).filter(([one]) => one !== name)),
  ),
  'Object.entries': method('object: object -> list', (using, object: object) => counted(using, object)),
  'Object.fromEntries': method('entries: list -> object', ({ budget }, entries: unknown[]) => {
    budget.make(entries.length);
    return objectOf(entries.map(pairOf));
  }),
  'Object.getProperty': method('object: object, name: text -> any', ({ part }, object: object, name: string) =>
    Array.isArray(object) && name === 'length' ? object.length : part(object, name),
  ),
  'Object.hasOwnProperty': method('object: object, name: text -> boolean', (_, object: object, name: string) =>
    Object.hasOwn(object, name),
  ),
  'Object.keys': method('object: object -> list', (using, object: object) =>
    counted(using, object).map(([name]) => name),
  ),
  'Object.optional chaining': method('value: any, ...names: text -> any', ({ part }, value, ...names: string[]) =>
    names.reduce((inner: unknown, name) => part(inner, name), value),
  ),
  'Object.setProperty': method('object: object, name: text, value: any -> object', (using, object, name, value) => {
    counted(using, object);
    return Array.isArray(object) ? withPart(object, [name], value) : withMember(object, name, value);
  }),
  'Object.values': method('object: object -> list', (using, object: object) =>
    counted(using, object).map(([, value]) => value),
  ),
};
