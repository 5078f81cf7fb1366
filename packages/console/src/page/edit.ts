import type { Operations } from '@automation-platform/client';
import { isObject, type Members } from '@automation-platform/json';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useFilling } from './filling.ts';
import { FieldsOf } from './form.ts';
import { type Children, html, textOf } from './html.ts';
import { Failure, Json, reasonAgainst, say, Table } from './parts.ts';
import { CallRefused, newKey, type Past, readWhole } from './platform.ts';

/** A resource as it was read. `revision`: as If-Match takes it; undefined: it is not there yet. */
export type Version = { readonly item: Members; readonly revision: string | undefined };

/** The revision of the resource in an answer. */
const revisionOf = (headers: Headers): string | undefined => {
  const found = headers.get('etag')?.match(/^(?:W\/)?"(\d+)/)?.[1];
  return found === undefined ? undefined : `"${found}"`;
};

/** Reads a resource, at the moment that the page shows. Some answers have it as `data` or `result`. */
export const readVersion = async <N extends Past>(name: N, input: Operations[N]['input']): Promise<Version> => {
  const { body, headers } = await readWhole(name, input);
  const whole: Members = isObject(body) ? body : {};
  const item = [whole.data, whole.result].find(isObject) ?? whole;
  return { item, revision: revisionOf(headers) };
};

type Send = (members: Members, headers: Readonly<Record<string, string>>) => Promise<unknown>;

type Props = {
  /** The name of the form. */
  readonly label: string;
  /** The members that can be changed, as a JSON schema says it. */
  readonly schema: Members;
  readonly version: Version;
  readonly operation: keyof Operations;
  /** Sends the members that differ; all of them if the resource is not there yet. */
  readonly send: Send;
  /** Reads the resource again, to show both after another one has changed it. */
  readonly reload?: () => Promise<Version>;
  readonly saved: () => void;
  readonly says: string;
  /** The places of the members in the request, as JSON pointers. */
  readonly prefixes?: readonly string[];
  /** Shown below the fields, by the members as they are typed. */
  readonly below?: (members: Members) => Children;
};

type Editing = Props & { readonly rebase: (version: Version) => void; readonly isChanged: { current: boolean } };

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null) || ((one ?? '') === '' && (other ?? '') === '');

/** How a member is emptied. */
const emptyOf = ({ type }: Members): unknown => {
  if (Array.isArray(type) && type.includes('null')) return null;
  if (type === 'array') return [];
  return type === 'string' ? '' : null;
};

const propertiesOf = ({ properties }: Members) => Object.entries(properties as Readonly<Record<string, Members>>);

const changesOf = (schema: Members, before: Members, after: Members): Members =>
  Object.fromEntries(
    propertiesOf(schema)
      .filter(([name]) => !isSame(before[name], after[name]))
      .map(([name, member]) => [name, after[name] ?? emptyOf(member)]),
  );

type Both = { readonly title: string; readonly before: unknown; readonly theirs: unknown; readonly mine: unknown };

const words = (title: string, value: unknown) =>
  isObject(value) || textOf(value).includes('\n')
    ? html`<${Json} label=${title} value=${value} />`
    : html`<code class="code clip">${textOf(value)}</code>`;

const Conflict = ({
  rows,
}: {
  readonly rows: readonly Both[];
}) => html`<p>Somebody else has changed it meanwhile. Nothing is saved yet.</p>
  <${Table} label="Both versions" rows=${rows} keyOf=${({ title }: Both) => title}
    columns=${[
      { title: 'Member', cell: ({ title }: Both) => title },
      { title: 'Before', kind: 'wide', cell: ({ title, before }: Both) => words(`${title} before`, before) },
      { title: 'Now on the platform', kind: 'wide', cell: ({ title, theirs }: Both) => words(`${title} now`, theirs) },
      { title: 'Yours', kind: 'wide', cell: ({ title, mine }: Both) => words(`Your ${title}`, mine) },
    ]} />`;

const Editing = ({
  label,
  schema,
  version,
  operation,
  send,
  reload,
  saved,
  says,
  prefixes = [],
  below,
  rebase,
  isChanged,
}: Editing) => {
  const { item: before, revision } = version;
  const filling = useFilling(document(schema), { draft: `${operation} ${label} ${revision}`, beginning: before });
  const mine = filling.value as Members;
  const isNew = revision === undefined;
  const changes = changesOf(schema, before, mine);
  // Until the version that was saved is there.
  const stored = useRef<Members>(undefined);
  isChanged.current = mine !== stored.current && Object.keys(changes).length > 0;
  const [theirs, setTheirs] = useState<Version>();
  const reason = reasonAgainst(operation);

  const sendAgainst = (against: string | undefined, key: string) =>
    send(isNew ? mine : changes, {
      'Idempotency-Key': key,
      ...(against !== undefined && { 'If-Match': against }),
    });
  /** After 412: sends it again if another one has changed no member of the form, else shows both versions. */
  const sendAgain = async (fault: CallRefused, key: string): Promise<void> => {
    const now = await reload?.();
    const isOther = now && propertiesOf(schema).every(([name]) => isSame(before[name], now.item[name]));
    if (isOther) return void (await sendAgainst(now.revision, key));
    setTheirs(now);
    throw fault;
  };

  const save = (against: string | undefined, key?: string) =>
    filling.submit(async (_, ownKey) => {
      setTheirs(undefined);
      await sendAgainst(against, key ?? ownKey).catch((fault) => {
        if (fault instanceof CallRefused && fault.status === 412) return sendAgain(fault, key ?? ownKey);
        throw fault;
      });
      stored.current = mine;
      isChanged.current = false;
      say(says);
      saved();
    }, prefixes);

  const submit = (event: Event): void => {
    event.preventDefault();
    void save(revision);
  };
  const rows = propertiesOf(schema)
    .map(([name, { title }]) => ({
      title: textOf(title ?? name),
      before: before[name],
      theirs: theirs?.item[name],
      mine: mine[name],
    }))
    .filter((row) => !isSame(row.before, row.theirs) || !isSame(row.before, row.mine));
  return html`<form ref=${filling.place} class="form" onSubmit=${submit} novalidate aria-label=${label}>
    <${FieldsOf} field=${filling.form} value=${mine} change=${filling.change} faults=${filling.faults} at="" />
    ${below?.(mine)}
    ${
      theirs
        ? html`<div role="alert" class="outcome wait"><${Conflict} rows=${rows} />
            <div class="actions"><button type="button" onClick=${() => save(theirs.revision, newKey())}>Save mine</button><button type="button" onClick=${() => {
              isChanged.current = false;
              rebase(theirs);
            }}>Take theirs</button></div></div>`
        : html`<${Failure} error=${filling.error} />`
    }
    <div class="actions"><button class="main" disabled=${filling.isBusy || reason !== undefined || (!isNew && !isChanged.current)} title=${reason ?? ''}>Save</button>${reason && html`<span class="quiet">${reason}</span>`}</div>
  </form>`;
};

const documents = new WeakMap<Members, { readonly schema: Members }>();

/** The same document for the same schema: a form is made anew for another one. */
const document = (schema: Members) => {
  const found = documents.get(schema) ?? { schema };
  documents.set(schema, found);
  return found;
};

/**
 * A form that changes a resource, or makes one. Typed text stays while the resource changes; after 412 both
 * versions are shown.
 */
export const Editor = (props: Props) => {
  const [base, setBase] = useState(props.version);
  const isChanged = useRef(false);
  useEffect(() => {
    if (!isChanged.current) setBase(props.version);
  }, [props.version.revision]);
  return html`<${Editing} key=${base.revision} ...${{ ...props, version: base }} rebase=${setBase} isChanged=${isChanged} />`;
};
