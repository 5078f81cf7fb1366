import { isRaised, PythonError } from '../errors.ts';
import { ordered } from '../values/compare.ts';
import { floatRepr } from '../values/floats.ts';
import { intText } from '../values/print.ts';
import { isDict, isTuple, type Run, typeName, type Value } from '../values/values.ts';
import { analyze, isText } from './scalars.ts';
import { newWriter, type Writer } from './writer.ts';

export type YamlStyle = {
  readonly indent: number;
  readonly width: number;
  readonly sorted: boolean;
  /** True if lists and dicts are in brackets; null: those that hold no other ones. */
  readonly flow: boolean | null;
  readonly start: boolean;
};

type Scalar = { readonly kind: 'scalar'; readonly text: string; readonly isPlain: boolean };
type Collection = {
  readonly kind: 'list' | 'dict';
  /** The items; keys and values in turn. */
  readonly items: Node[];
  flow: boolean;
};
type Node = Scalar | Collection;

/** A document that is being written. */
type Dumping = {
  readonly run: Run;
  readonly style: YamlStyle;
  readonly nodes: Map<Value, Collection>;
  /** Collections that stand in several places, by name; undefined for those that were met once. */
  readonly anchors: Map<Collection, string | undefined>;
};

const plain = (text: string): Scalar => ({ kind: 'scalar', text, isPlain: true });

const floatText = (value: number): string => {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  const text = floatRepr(value);
  return text.includes('.') ? text : text.replace('e', '.0e');
};

const scalarOf = (value: Value): Scalar | undefined => {
  if (value === null) return plain('null');
  switch (typeof value) {
    case 'boolean':
      return plain(String(value));
    case 'bigint':
      return plain(intText(value));
    case 'number':
      return plain(floatText(value));
    case 'string':
      return { kind: 'scalar', text: value, isPlain: isText(value) };
    default:
      return undefined;
  }
};

/** Members in the order of their keys; as they are where the keys have no order. */
const membersOf = (run: Run, value: Value & object, sorted: boolean): (readonly [Value, Value])[] => {
  const pairs = isDict(value) ? [...value.entries.values()] : [];
  if (!sorted) return pairs;
  const before = (a: Value, b: Value): number => {
    if (ordered(run, '<', a, b)) return -1;
    return ordered(run, '<', b, a) ? 1 : 0;
  };
  try {
    return [...pairs].sort(([a], [b]) => before(a, b));
  } catch (error) {
    if (isRaised(error, 'TypeError', 'UndefinedError')) return pairs;
    throw error;
  }
};

const childrenOf = ({ run, style }: Dumping, value: Value & object): Value[] => {
  if (Array.isArray(value)) return value;
  if (isTuple(value) && !value.names) return [...value.items];
  if (isDict(value)) return membersOf(run, value, style.sorted).flat();
  throw new PythonError('AnsibleFilterError', `cannot represent an object of type ${typeName(value)} in YAML`);
};

const nodeOf = (dumping: Dumping, value: Value): Node => {
  const { run, nodes, style } = dumping;
  run.budget.step();
  run.budget.make(1);
  const scalar = scalarOf(value);
  if (scalar) return scalar;
  const collection = nodes.get(value);
  if (collection) return collection;
  const children = childrenOf(dumping, value as Value & object);
  const node: Collection = { kind: isDict(value) ? 'dict' : 'list', items: [], flow: style.flow ?? true };
  if (!(isTuple(value) && children.length === 0)) nodes.set(value, node);
  for (const child of children) node.items.push(run.budget.deeper(() => nodeOf(dumping, child)));
  if (style.flow === null) node.flow = node.items.every(({ kind }) => kind === 'scalar');
  return node;
};

/** Finds what stands in several places, in the order in which that is found out. */
const nameAnchors = ({ anchors }: Dumping, root: Node): void => {
  let count = 0;
  const visit = (node: Node): void => {
    if (node.kind === 'scalar') return;
    if (anchors.has(node)) {
      if (anchors.get(node) === undefined) anchors.set(node, `id${String(++count).padStart(3, '0')}`);
      return;
    }
    anchors.set(node, undefined);
    for (const item of node.items) visit(item);
  };
  visit(root);
};

/** Where a node stands: in brackets, as a member's value, as a key in its line. */
type Context = { readonly inFlow: boolean; readonly inDict?: boolean; readonly isKey?: boolean };

type Emitting = { readonly writer: Writer; readonly dumping: Dumping; readonly written: Set<Collection> };

const emitScalar = ({ writer }: Emitting, { text, isPlain }: Scalar, { inFlow, isKey = false }: Context): void => {
  const analysis = analyze(text);
  const bare =
    isPlain && (inFlow ? analysis.plainInFlow : analysis.plainInBlock) && !(text === '' && (inFlow || isKey));
  writer.deeper(
    () => {
      if (isKey && analysis.multiline) writer.doubleQuoted(text, false);
      else if (bare) writer.plain(text, !isKey, inFlow);
      else if (analysis.singleQuoted) writer.singleQuoted(text, !isKey);
      else writer.doubleQuoted(text, !isKey);
    },
    { flow: true },
  );
};

const longestKey = 128;

/** True if a key stands in one line with its value. */
const isSimpleKey = ({ dumping, written }: Emitting, node: Node): boolean => {
  if (node.kind === 'scalar') return !analyze(node.text).multiline && Buffer.byteLength(node.text) <= longestKey;
  return (written.has(node) && dumping.anchors.get(node) !== undefined) || node.items.length === 0;
};

const emitKey = (emitting: Emitting, key: Node, inFlow: boolean): boolean => {
  const simple = isSimpleKey(emitting, key);
  if (!simple) emitting.writer.indicator('?', { apart: true, indents: !inFlow });
  emit(emitting, key, { inFlow, inDict: true, isKey: simple });
  return simple;
};

const emitFlow = (emitting: Emitting, { kind, items }: Collection): void => {
  const { writer } = emitting;
  const isList = kind === 'list';
  writer.indicator(isList ? '[' : '{', { apart: true, blank: true });
  writer.deeper(
    () => {
      for (let i = 0; i < items.length; i += isList ? 1 : 2) {
        const [item, value] = items.slice(i, i + 2);
        if (i > 0) writer.indicator(',');
        if (writer.isLong()) writer.writeIndent();
        if (!item) continue;
        if (isList || !value) {
          emit(emitting, item, { inFlow: true });
          continue;
        }
        if (emitKey(emitting, item, true)) writer.indicator(':');
        else {
          if (writer.isLong()) writer.writeIndent();
          writer.indicator(':', { apart: true });
        }
        emit(emitting, value, { inFlow: true, inDict: true });
      }
    },
    { flow: true },
  );
  writer.indicator(isList ? ']' : '}');
};

const emitBlockList = (emitting: Emitting, { items }: Collection, inDict: boolean): void => {
  const { writer } = emitting;
  writer.deeper(
    () => {
      for (const item of items) {
        writer.writeIndent();
        writer.indicator('-', { apart: true, indents: true });
        emit(emitting, item, { inFlow: false });
      }
    },
    { same: inDict && !writer.isIndented() },
  );
};

const emitBlockDict = (emitting: Emitting, { items }: Collection): void => {
  const { writer } = emitting;
  writer.deeper(() => {
    for (let i = 0; i < items.length; i += 2) {
      const [key, value] = items.slice(i, i + 2);
      if (!key || !value) continue;
      writer.writeIndent();
      if (emitKey(emitting, key, false)) writer.indicator(':');
      else {
        writer.writeIndent();
        writer.indicator(':', { apart: true, indents: true });
      }
      emit(emitting, value, { inFlow: false, inDict: true });
    }
  });
};

const emit = (emitting: Emitting, node: Node, context: Context): void => {
  const { writer, dumping, written } = emitting;
  dumping.run.budget.step();
  if (node.kind === 'scalar') {
    emitScalar(emitting, node, context);
    return;
  }
  const anchor = dumping.anchors.get(node);
  if (anchor !== undefined) writer.indicator((written.has(node) ? '*' : '&') + anchor, { apart: true });
  if (written.has(node) && anchor !== undefined) return;
  written.add(node);
  if (context.inFlow || node.flow || node.items.length === 0) emitFlow(emitting, node);
  else if (node.kind === 'list') emitBlockList(emitting, node, context.inDict ?? false);
  else emitBlockDict(emitting, node);
};

/** yaml.dump(value) with libyaml */
export const dumpYaml = (run: Run, value: Value, style: YamlStyle): string => {
  const step = style.indent < 2 || style.indent > 9 ? 2 : style.indent;
  const usual = style.width <= 2 * step ? 80 : style.width;
  const writer = newWriter(run, step, style.width < 0 ? Infinity : usual);
  const dumping: Dumping = { run, style, nodes: new Map(), anchors: new Map() };
  const root = nodeOf(dumping, value);
  nameAnchors(dumping, root);
  if (style.start) writer.indicator('---', { apart: true });
  emit({ writer, dumping, written: new Set() }, root, { inFlow: false });
  writer.writeIndent();
  return writer.text();
};
