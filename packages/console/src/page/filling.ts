import type { Operations } from '@automation-platform/client';
import { isObject } from '@automation-platform/json';
import { useMemo, useRef, useState } from 'preact/hooks';
import { escaped, type Field, type FormDocument, faultsOf, formOf, presetOf } from './fields.ts';
import { FieldsOf } from './form.ts';
import { type Children, html } from './html.ts';
import { Failure, reasonAgainst } from './parts.ts';
import { CallRefused, newKey } from './platform.ts';

/** Pointers in refusals begin with the place of the form's data in the request. */
const placed = (path: string, prefixes: readonly string[]): string => {
  const pointer = path.startsWith('/') ? path : `/${path.replaceAll('.', '/')}`;
  const prefix = prefixes.find((one) => pointer === one || pointer.startsWith(`${one}/`));
  return prefix === undefined ? pointer : pointer.slice(prefix.length);
};

type Draft = { readonly key: string; readonly value: unknown };

/** The drafts of a person, for each form and trigger, as long as the page is open. */
const drafts = new Map<string, Draft>();

/**
 * A form that is being filled in. The draft stays when the view is left and entered again. `draft` is the name by
 * which it is found again; `beginning` fills in the beginning.
 */
export const useFilling = (
  document: FormDocument,
  { draft, beginning }: { readonly draft: string; readonly beginning?: unknown },
) => {
  const form: Field = useMemo(() => formOf(document), [document]);
  const first = (): Draft => {
    const preset = presetOf(form);
    return {
      key: newKey(),
      value: isObject(beginning) && isObject(preset) ? { ...preset, ...beginning } : (beginning ?? preset ?? {}),
    };
  };
  const [{ key, value }, set] = useState<Draft>(() => drafts.get(draft) ?? first());
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [isSent, setSent] = useState(false);
  const [refusal, setRefusal] = useState<ReadonlyMap<string, string>>(new Map());
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const place = useRef<HTMLFormElement>(null);
  const own = faultsOf(form, value);
  const faultsNow = new Map([...own].filter(([path]) => isSent || touched.has(path)));
  for (const [path, text] of refusal) faultsNow.set(path, text);

  const change = (next: unknown): void => {
    const before = value;
    // A changed form is another request.
    const draftNow = { key: newKey(), value: next };
    drafts.set(draft, draftNow);
    set(draftNow);
    setRefusal(new Map());
    setTouched(new Set([...touched, ...changedPaths(before, next)]));
  };

  /** Sends the form; the faults of a refusal stand at their fields. With `isTrial` it is sent in earnest later. */
  const submit = async (
    send: (value: unknown, key: string) => Promise<void>,
    prefixes: readonly string[],
    isTrial = false,
  ): Promise<void> => {
    setSent(true);
    setError(undefined);
    if (own.size > 0) {
      setTimeout(() => place.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus());
      return;
    }
    setBusy(true);
    try {
      await send(value, key);
      if (isTrial) return;
      drafts.delete(draft);
      // It can be sent again, as another request.
      set((now) => ({ ...now, key: newKey() }));
    } catch (fault) {
      const errors = fault instanceof CallRefused ? fault.errors : [];
      setRefusal(
        new Map(errors.filter(({ path }) => path).map(({ path = '', message }) => [placed(path, prefixes), message])),
      );
      setError(fault);
    } finally {
      setBusy(false);
    }
  };
  return { form, value, change, faults: faultsNow, error, isBusy, submit, place };
};

type FilledFormProps = {
  readonly filling: ReturnType<typeof useFilling>;
  /** The name of the form. */
  readonly label: string;
  readonly operation: keyof Operations;
  /** The button that sends it. */
  readonly button: string;
  readonly send: (isTrial: boolean) => Promise<void>;
  /** Gives it a button `Dry run`, too. */
  readonly canTry?: boolean;
  /** Shown in place of no fields. */
  readonly empty?: Children;
};

/** A form that is filled in, and its buttons. They say why the caller cannot use them. */
export const FilledForm = ({ filling, label, operation, button, send, canTry = false, empty }: FilledFormProps) => {
  const { form, value, change, faults, error, isBusy, place } = filling;
  const reason = reasonAgainst(operation);
  const state = { disabled: isBusy || reason !== undefined, title: reason ?? '' };
  const submit = (event: Event): void => {
    event.preventDefault();
    void send(false);
  };
  return html`<form ref=${place} class="form" onSubmit=${submit} novalidate aria-label=${label}>
    ${form.fields.length === 0 && empty}
    <${FieldsOf} field=${form} value=${value} change=${change} faults=${faults} at="" />
    <${Failure} error=${error} />
    <div class="actions">${canTry && html`<button type="button" ...${state} onClick=${() => send(true)}>Dry run</button>`}<button class="main" ...${state}>${button}</button>${reason && html`<span class="quiet">${reason}</span>`}</div>
  </form>`;
};

/** The pointers of the members that differ. */
const changedPaths = (before: unknown, after: unknown, at = ''): readonly string[] => {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (Array.isArray(after))
    return [
      at,
      ...after.flatMap((one, i) => changedPaths(Array.isArray(before) ? before[i] : undefined, one, `${at}/${i}`)),
    ];
  if (!isObject(after)) return [at];
  const former = isObject(before) ? before : {};
  const keys = new Set([...Object.keys(former), ...Object.keys(after)]);
  return [...keys].flatMap((key) => changedPaths(former[key], after[key], `${at}/${escaped(key)}`));
};
