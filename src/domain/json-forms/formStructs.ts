import { isObject, step } from '@automation-platform/json';
import { type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { SchemaData } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';

/** The layout of a form: a tree of items. `checkedStruct` checks each item by its kind. */
export const structSchema = Type.Object(
  {
    type: Type.String({ description: 'Type of the whole' }),
    items: Type.Array(Type.Any(), {
      description:
        'Items: containers (which have items of their own), booleans, numbers, texts, choices and files; at most 16 levels deep and 2,000 in all',
    }),
    nodeId: Type.Optional(Type.String({ description: 'Id within the editor' })),
    projectId: Type.Optional(Type.String({ description: 'Project of the editor' })),
  },
  { additionalProperties: true, title: 'FormStruct', description: 'Layout of a form' },
);
export type Struct = SchemaData<typeof structSchema>;
type Item = { readonly type: string; readonly items?: readonly Item[]; readonly [member: string]: unknown };

const any = Type.Optional(Type.Any());
const flag = Type.Optional(Type.Boolean());
const list = Type.Optional(Type.Array(Type.Any()));
const orNull = <S extends ReturnType<typeof Type.String | typeof Type.Number | typeof Type.Integer>>(schema: S) =>
  Type.Optional(Type.Union([schema, Type.Null()]));
const text = orNull(Type.String());
const number = orNull(Type.Number());
const length = orNull(Type.Integer({ minimum: 0 }));

// The fields of every item, and further fields of each kind. Unknown fields are kept.
const kind = (members: TProperties) =>
  Compile(
    Type.Object({
      nodeId: Type.String(),
      type: Type.String(),
      title: Type.String(),
      description: Type.String(),
      ...members,
    }),
  );

const choice = {
  enum: list,
  enumNames: list,
  method: text,
  body: any,
  sourcePointer: text,
  sourceKeyPointer: text,
  labelKeyPointer: text,
  base: text,
  href: text,
  transformation: any,
  radio: flag,
  inline: flag,
};

const kinds = {
  container: kind({
    items: Type.Array(Type.Any()),
    required: any,
    options: any,
    helper: any,
    collapsed: flag,
    readOnly: flag,
    schemaOption: any,
    combinationType: any,
    widget: any,
    uniqueItems: flag,
    minItems: number,
    maxItems: number,
    customKey: any,
  }),
  boolean: kind({
    default: any,
    enum: Type.Optional(Type.Array(Type.Object({ id: Type.Any(), value: Type.Any() }))),
    widget: any,
  }),
  number: kind({
    placeholder: Type.String(),
    required: Type.Boolean(),
    minimum: number,
    maximum: number,
    default: number,
    validation: any,
    disabled: flag,
  }),
  text: kind({
    placeholder: text,
    required: flag,
    pattern: text,
    format: text,
    minLength: length,
    maxLength: length,
    default: any,
    binding: any,
    rel: text,
    targetPointer: text,
    disabled: flag,
  }),
  choice: kind({ ...choice, placeholder: text, required: flag, binding: any, disabled: flag }),
  file: kind({ format: Type.Literal('data-url'), placeholder: text, required: flag, disabled: flag }),
};

const kindOf = (item: Item): keyof typeof kinds => {
  if (item.type === 'boolean' || item.type === 'number') return item.type;
  if (item.type !== 'string') return 'container';
  if (item.format === 'data-url') return 'file';
  return Object.keys(choice).some((member) => Object.hasOwn(item, member)) ? 'choice' : 'text';
};

const maxDepth = 16;
const maxItems = 2000;

/** The fault of an item, without its place. */
type Check = (item: Item, path: string) => void;

/** Throws `invalid` with the path for an item that does not fit its kind. */
const checkKind: Check = (item, path) => {
  if (!isItem(item)) throw new RequestError('invalid', 'An item of a form must be an object', { path });
  const kind = kindOf(item);
  const [fault] = kinds[kind].Check(item) ? [] : kinds[kind].Errors(item);
  if (!fault) return;
  const missing = fault.keyword === 'required' ? fault.params.requiredProperties[0] : undefined;
  throw new RequestError(
    'invalid',
    `An item of the kind ${kind} ${missing === undefined ? fault.message : `must have ${missing}`}`,
    { path: path + fault.instancePath + (missing === undefined ? '' : step(missing)) },
  );
};

const isItem = (value: unknown): value is Item => isObject(value);

/**
 * The layout with the documented defaults of its choices. Throws `invalid` with the path for a layout that is too deep
 * or too large, and what `check` throws.
 */
const laidOut = (struct: Struct, path: string, check?: Check): Struct => {
  let count = 0;
  const one = (item: Item, path: string, depth: number): Item => {
    if (depth > maxDepth) throw new RequestError('invalid', `Items may lie ${maxDepth} levels deep`, { path });
    if (++count > maxItems) throw new RequestError('invalid', `A form may have ${maxItems} items`, { path });
    check?.(item, path);
    if (!isItem(item)) return item;
    const kind = kindOf(item);
    if (kind === 'choice') return { enum: [], enumNames: [], binding: false, ...item };
    return kind === 'container' && Array.isArray(item.items)
      ? { ...item, items: all(item.items, path, depth + 1) }
      : item;
  };
  const all = (items: readonly Item[], path: string, depth: number): Item[] =>
    items.map((item, i) => one(item, `${path}/items/${i}`, depth));
  return { ...struct, items: all(struct.items, path, 1) };
};

/** The layout in a request of a person. Throws `invalid` with the path for an item that does not fit its kind. */
export const checkedStruct = (struct: Struct, path: string): Struct => laidOut(struct, path, checkKind);

/** The layout of an imported form: its items are as they are. */
export const importedStruct = (struct: Struct, path: string): Struct => laidOut(struct, path);
