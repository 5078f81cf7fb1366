/** The fields of a form, by its schema and layout. */
import { isObject, type Members } from '@automation-platform/json';
import { textOf } from './html.ts';

type Schema = Members;

export type Kind =
  | 'text'
  | 'long'
  | 'number'
  | 'boolean'
  | 'choice'
  | 'choices'
  | 'file'
  | 'time'
  | 'list'
  | 'object'
  | 'json';

type Option = { readonly value: unknown; readonly name: string };

export type Field = {
  /** The name of the member. '' for the items of a list. */
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly placeholder: string;
  readonly kind: Kind;
  readonly isRequired: boolean;
  readonly isReadOnly: boolean;
  /** An item of a list, which has a title of its own. */
  readonly isItem: boolean;
  readonly isSecret: boolean;
  /** Choices are asked as radio buttons. */
  readonly isRadio: boolean;
  /** Choices are bound to what is known at run time alone, so they are asked as text. */
  readonly isBound: boolean;
  readonly options: readonly Option[];
  /** Values that a text may have, to choose from or not. */
  readonly suggestions: readonly string[];
  readonly schema: Schema;
  readonly fields: readonly Field[];
  /** Of a list: its items. */
  readonly item?: Field;
};

const textIn = (members: Members, ...names: readonly string[]): string => {
  for (const name of names) if (typeof members[name] === 'string' && members[name] !== '') return members[name];
  return '';
};
const objectIn = (members: Members, name: string): Members => (isObject(members[name]) ? members[name] : {});
const listIn = (members: Members, name: string): readonly unknown[] =>
  Array.isArray(members[name]) ? members[name] : [];

const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const mostDepth = 16;

/** The name of the member that an item of the layout stands for. Editors name it in several ways. */
const keyOf = (item: Members, properties: Members): string | undefined => {
  const names = ['customKey', 'key', 'name', 'nodeId', 'title']
    .map((name) => textIn(item, name))
    .filter((name) => name !== '');
  const exact = names.find((name) => Object.hasOwn(properties, name));
  if (exact !== undefined) return exact;
  const byId = Object.entries(properties).find(
    ([, schema]) => isObject(schema) && schema._id !== undefined && schema._id === item.nodeId,
  );
  if (byId) return byId[0];
  const alike = new Set(names.map(plain));
  return Object.keys(properties).find((key) => alike.has(plain(key)));
};

const typeOf = (schema: Schema, item: Members): string => {
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type;
  if (typeof type === 'string') return type;
  if (isObject(schema.properties)) return 'object';
  return textIn(item, 'type');
};

const isBinding = (item: Members, binding: Members): boolean =>
  item.binding === true || textIn(item, 'base', 'href', 'sourcePointer') !== '' || Object.keys(binding).length > 0;

const optionsOf = (schema: Schema, item: Members): readonly Option[] => {
  const values = listIn(schema, 'enum').length > 0 ? listIn(schema, 'enum') : listIn(item, 'enum');
  const names = listIn(item, 'enumNames').length > 0 ? listIn(item, 'enumNames') : listIn(schema, 'enumNames');
  return values.map((entry, i) => {
    const value = isObject(entry) && Object.hasOwn(entry, 'value') ? entry.value : entry;
    const name = [names[i], isObject(entry) ? entry.id : undefined].find((one) => typeof one === 'string');
    return { value, name: typeof name === 'string' ? name : textOf(value) };
  });
};

const secretName = /passw|secret|token|community|passphrase|^auth$|apikey|privatekey/i;

const kindOf = (type: string, schema: Schema, item: Members, widget: string): Kind => {
  if (type === 'boolean') return 'boolean';
  if (type === 'integer' && textIn(schema, 'format') === 'date-time') return 'time';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'array') {
    const of = objectIn(schema, 'items');
    return listIn(of, 'enum').length > 0 ? 'choices' : 'list';
  }
  if (type === 'object') return 'object';
  if (type !== 'string' && type !== '') return 'json';
  if (textIn(schema, 'format') === 'data-url' || textIn(item, 'format') === 'data-url') return 'file';
  if (type === '' && Object.keys(schema).length > 0) return 'json';
  return widget === 'textarea' || textIn(schema, 'format') === 'code' ? 'long' : 'text';
};

type Parts = {
  readonly key: string;
  readonly schema: Schema;
  readonly item: Members;
  readonly ui: Members;
  readonly binding: Members;
  readonly isRequired: boolean;
  readonly isItem?: boolean;
  readonly depth: number;
};

const fieldOf = ({ key, schema, item, ui, binding, isRequired, isItem = false, depth }: Parts): Field => {
  const type = typeOf(schema, item);
  const own = objectIn(ui, key);
  const bound = objectIn(objectIn(binding, 'properties'), key);
  const widget = textIn(own, 'ui:widget') || textIn(item, 'widget');
  const of = objectIn(schema, 'items');
  const ofMany = optionsOf(of, {});
  const ofOne = type === 'boolean' || type === 'array' ? [] : optionsOf(schema, item);
  const options = type === 'array' ? ofMany : ofOne;
  const typed = ofOne.length > 0 ? 'choice' : kindOf(type, schema, item, widget);
  const kind = depth > mostDepth ? 'json' : typed;
  const items = listIn(item, 'items').filter(isObject);
  const inner = { ui: kind === 'list' ? objectIn(own, 'items') : own, binding: bound, depth: depth + 1 };
  const ofItem = kind === 'list' ? itemOf(of, items, inner) : undefined;
  return {
    key,
    title: textIn(item, 'title') || textIn(schema, 'title') || key,
    description: textIn(item, 'description', 'helper') || textIn(schema, 'description') || textIn(own, 'ui:help'),
    placeholder: textIn(item, 'placeholder') || textIn(own, 'ui:placeholder'),
    kind,
    isRequired,
    isItem,
    isReadOnly: schema.readOnly === true || item.readOnly === true || item.disabled === true,
    isSecret: kind === 'text' && (widget === 'password' || secretName.test(key)),
    isRadio: widget === 'radio' || item.radio === true,
    isBound: isBinding(item, bound) && options.length === 0,
    options,
    suggestions: listIn(schema, 'examples').filter((one): one is string => typeof one === 'string'),
    schema,
    fields: kind === 'object' ? fieldsOf({ schema, items, ...inner }) : [],
    ...(ofItem && { item: ofItem }),
  };
};

/** The items of a list. A layout that has one item for it says the item itself; several are the members of each. */
const itemOf = (schema: Schema, items: readonly Members[], inner: Pick<Parts, 'ui' | 'binding' | 'depth'>): Field => {
  const [only] = items;
  const isOfMembers = typeOf(schema, {}) === 'object';
  const item = isOfMembers ? { items } : (only ?? {});
  return fieldOf({ key: '', schema, item, isRequired: true, isItem: true, ...inner });
};

type Whole = {
  readonly schema: Schema;
  readonly items: readonly Members[];
  readonly ui: Members;
  readonly binding: Members;
  readonly depth: number;
};

const fieldsOf = ({ schema, items, ui, binding, depth }: Whole): readonly Field[] => {
  const properties = objectIn(schema, 'properties');
  const required = new Set(listIn(schema, 'required'));
  const found: Field[] = [];
  const keys = new Set<string>();
  const add = (key: string, item: Members): void => {
    if (keys.has(key)) return;
    keys.add(key);
    const isRequired = required.has(key) || (item.required === true && !Object.hasOwn(properties, key));
    found.push(fieldOf({ key, schema: objectIn(properties, key), item, ui, binding, isRequired, depth }));
  };
  for (const item of items) {
    const key =
      keyOf(item, properties) ??
      (Object.keys(properties).length === 0 ? textIn(item, 'customKey', 'key', 'nodeId', 'title') : '');
    if (key !== '') add(key, item);
  }
  const order = listIn(ui, 'ui:order').filter(
    (name): name is string => typeof name === 'string' && Object.hasOwn(properties, name),
  );
  for (const key of [...order, ...Object.keys(properties)]) add(key, {});
  return found;
};

export type FormDocument = {
  readonly schema: unknown;
  readonly struct?: unknown;
  readonly uiSchema?: unknown;
  readonly bindingSchema?: unknown;
};

/** The form as one field, an object. */
export const formOf = ({ schema, struct, uiSchema, bindingSchema }: FormDocument): Field => {
  const items = isObject(struct) ? listIn(struct, 'items').filter(isObject) : [];
  const root = isObject(schema) ? schema : {};
  const members = typeOf(root, {}) === '' ? { ...root, type: 'object' } : root;
  return fieldOf({
    key: '',
    schema: members,
    item: { items },
    ui: { '': isObject(uiSchema) ? uiSchema : {} },
    binding: { properties: { '': isObject(bindingSchema) ? bindingSchema : {} } },
    isRequired: true,
    depth: 0,
  });
};

/** The value that a field begins with; undefined: none. */
export const presetOf = (field: Field): unknown => {
  const { schema, kind } = field;
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (kind !== 'object') return undefined;
  const entries = field.fields
    .map((one) => [one.key, presetOf(one)] as const)
    .filter(([, value]) => value !== undefined);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
};

const numberIn = (schema: Schema, name: string): number | undefined =>
  typeof schema[name] === 'number' ? schema[name] : undefined;

// A pattern that repeats a group, or refers back, may take for ever. The platform checks those.
const isQuick = (pattern: string): boolean =>
  pattern.length <= 200 && !/\)[*+?{]|\\[1-9k]|[*+}][^)]*[*+{][^)]*[*+{]/.test(pattern);

const matches = (pattern: string, text: string): boolean => {
  if (!isQuick(pattern) || text.length > 1000) return true;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
};

const textFault = ({ schema }: Field, text: string): string | undefined => {
  const length = [...text].length;
  const least = numberIn(schema, 'minLength') ?? 0;
  const most = numberIn(schema, 'maxLength') ?? Number.POSITIVE_INFINITY;
  if (length < least) return `It has ${length} characters and needs ${least}.`;
  if (length > most) return `It has ${length} characters and may have ${most}.`;
  const pattern = textIn(schema, 'pattern');
  return pattern === '' || matches(pattern, text) ? undefined : `It does not have the form ${pattern}`;
};

const numberFault = ({ schema }: Field, number: number): string | undefined => {
  if (schema.type === 'integer' && !Number.isInteger(number)) return 'It must be a whole number.';
  const least = numberIn(schema, 'minimum');
  const most = numberIn(schema, 'maximum');
  if (least !== undefined && number < least) return `It must be ${least} at least.`;
  return most !== undefined && number > most ? `It must be ${most} at most.` : undefined;
};

const listFault = ({ schema }: Field, items: readonly unknown[]): string | undefined => {
  const least = numberIn(schema, 'minItems') ?? 0;
  const most = numberIn(schema, 'maxItems') ?? Number.POSITIVE_INFINITY;
  if (items.length < least) return `It has ${items.length} of at least ${least}.`;
  if (items.length > most) return `It has ${items.length} and may have ${most}.`;
  const isTwice = schema.uniqueItems === true && new Set(items.map((item) => JSON.stringify(item))).size < items.length;
  return isTwice ? 'Two of them are the same.' : undefined;
};

const isNothing = (value: unknown): boolean => value === undefined || value === '';

const faultOf = (field: Field, value: unknown): string | undefined => {
  if (isNothing(value)) return field.isRequired ? `${field.title || 'This'} is needed.` : undefined;
  if (typeof value === 'string' && (field.kind === 'text' || field.kind === 'long')) return textFault(field, value);
  if (field.kind === 'number') return typeof value === 'number' ? numberFault(field, value) : 'It must be a number.';
  return Array.isArray(value) ? listFault(field, value) : undefined;
};

/** A name as a part of a JSON pointer. */
export const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** The faults of a value, by JSON pointers. The platform checks it again. */
export const faultsOf = (field: Field, value: unknown, at = ''): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  const fault = at === '' ? undefined : faultOf(field, value);
  if (fault) found.set(at, fault);
  const within = (inner: Field, one: unknown, key: string): void => {
    for (const [path, text] of faultsOf(inner, one, `${at}/${escaped(key)}`)) found.set(path, text);
  };
  // An object that is not there need not have its members.
  if (field.kind === 'object' && (at === '' || field.isRequired || isObject(value)))
    for (const inner of field.fields) within(inner, isObject(value) ? value[inner.key] : undefined, inner.key);
  if (field.kind === 'list' && field.item && Array.isArray(value)) {
    const { item } = field;
    value.forEach((one, i) => {
      within(item, one, String(i));
    });
  }
  return found;
};
