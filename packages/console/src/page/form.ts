import { isObject, type Members } from '@automation-platform/json';
import { useId, useState } from 'preact/hooks';
import { escaped, type Field, type Kind } from './fields.ts';
import { html, textOf } from './html.ts';

type Props = {
  readonly field: Field;
  readonly value: unknown;
  /** Gives the new value; undefined: none. */
  readonly change: (value: unknown) => void;
  /** Faults by JSON pointers. */
  readonly faults: ReadonlyMap<string, string>;
  readonly at: string;
};

/** `fault`: that of the field itself. */
type InputProps = Props & { readonly id: string; readonly fault: string | undefined };

type Input = { readonly currentTarget: HTMLInputElement & HTMLTextAreaElement & HTMLSelectElement };

const Hint = ({
  id,
  field,
  fault,
}: {
  readonly id: string;
  readonly field: Field;
  readonly fault: string | undefined;
}) => html`
  ${
    (field.description !== '' || field.isBound) &&
    html`<span class="hint" id=${`${id}-hint`}>${field.description}${field.isBound && ' The choices are known at run time alone: type the value.'}</span>`
  }
  ${fault && html`<span class="fault" id=${`${id}-fault`} role="alert">${fault}</span>`}
`;

const described = (id: string, field: Field, fault: string | undefined) => ({
  id,
  'aria-describedby':
    [field.description !== '' || field.isBound ? `${id}-hint` : '', fault ? `${id}-fault` : '']
      .filter((part) => part !== '')
      .join(' ') || undefined,
  'aria-invalid': fault ? 'true' : undefined,
});

/** The value of a choice is its place: values may be anything. */
const Choice = ({ field, value, change, id, fault }: InputProps) => {
  const place = field.options.findIndex((option) => JSON.stringify(option.value) === JSON.stringify(value));
  const take = ({ currentTarget }: Input) =>
    change(currentTarget.value === '' ? undefined : field.options[Number(currentTarget.value)]?.value);
  if (field.isRadio)
    return html`<fieldset class="radios" ...${described(id, field, fault)}>
      <legend>${field.title}${field.isRequired && html` <${Needed} />`}</legend>
      ${field.options.map(
        (option, i) =>
          html`<label key=${i} class="inline"><input type="radio" name=${id} value=${i} checked=${i === place} disabled=${field.isReadOnly} onChange=${take} />${option.name}</label>`,
      )}
      <${Hint} id=${id} field=${field} fault=${fault} />
    </fieldset>`;
  return html`<${Labelled} id=${id} field=${field} fault=${fault}>
    <select ...${described(id, field, fault)} disabled=${field.isReadOnly} aria-required=${field.isRequired} onChange=${take}>
      <option value="" selected=${place < 0}>${field.isRequired ? 'Choose' : 'None'}</option>
      ${field.options.map((option, i) => html`<option key=${i} value=${i} selected=${i === place}>${option.name}</option>`)}
    </select>
  </${Labelled}>`;
};

const Needed = () => html`<span class="needed" aria-hidden="true">needed</span>`;

const Labelled = ({
  id,
  field,
  fault,
  children,
}: {
  readonly id: string;
  readonly field: Field;
  readonly fault: string | undefined;
  readonly children?: unknown;
}) =>
  html`<div class="field"><span class=${field.isItem ? 'unseen' : 'label'}><label for=${id}>${field.title}</label>${field.isRequired && html` <${Needed} />`}</span>${children}<${Hint} id=${id} field=${field} fault=${fault} /></div>`;

const Choices = ({ field, value, change, id, fault }: InputProps) => {
  const chosenValues = Array.isArray(value) ? value : [];
  const has = (one: unknown): boolean => chosenValues.some((other) => JSON.stringify(other) === JSON.stringify(one));
  const turn = (one: unknown) => () =>
    change(field.options.map((option) => option.value).filter((other) => (other === one ? !has(one) : has(other))));
  return html`<fieldset ...${described(id, field, fault)}>
    <legend>${field.title}${field.isRequired && html` <${Needed} />`}</legend>
    ${field.options.map(
      (option, i) =>
        html`<label key=${i} class="inline"><input type="checkbox" checked=${has(option.value)} disabled=${field.isReadOnly} onChange=${turn(option.value)} />${option.name}</label>`,
    )}
    <${Hint} id=${id} field=${field} fault=${fault} />
  </fieldset>`;
};

const mostFile = 512 * 1024;

const readFile = (file: File, change: (value: unknown) => void): void => {
  const reader = new FileReader();
  reader.onload = () => change(reader.result);
  reader.readAsDataURL(file);
};

const FileField = ({ field, value, change, id, fault }: InputProps) => {
  const take = ({ currentTarget }: Input): void => {
    const file = currentTarget.files?.[0];
    currentTarget.setCustomValidity(file && file.size > mostFile ? 'too large' : '');
    if (file && file.size <= mostFile) readFile(file, change);
    else change(undefined);
  };
  return html`<${Labelled} id=${id} field=${field} fault=${fault}>
    <span><input type="file" ...${described(id, field, fault)} disabled=${field.isReadOnly} onChange=${take} />
    ${typeof value === 'string' && html`<span class="quiet">${Math.ceil((value.length * 3) / 4096)} KiB</span>`}</span>
  </${Labelled}>`;
};

/** The value of a text; undefined: the text is empty. A text that is no JSON is the value itself. */
const jsonValue = (text: string): unknown => {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const printJson = (value: unknown): string =>
  isObject(value) || Array.isArray(value) ? JSON.stringify(value, null, 2) : textOf(value);

const JsonField = ({ field, value, change, id, fault }: InputProps) => {
  // The text stays as it is typed: to print its value anew would move the cursor.
  const [typed, setTyped] = useState('');
  const take = ({ currentTarget }: Input): void => {
    setTyped(currentTarget.value);
    change(jsonValue(currentTarget.value));
  };
  const printed = printJson(value);
  const text = printJson(jsonValue(typed)) === printed ? typed : printed;
  return html`<${Labelled} id=${id} field=${field} fault=${fault}>
    <textarea rows="4" class="code" spellcheck=${false} ...${described(id, field, fault)} disabled=${field.isReadOnly} onInput=${take} value=${text}></textarea>
  </${Labelled}>`;
};

const TextField = ({ field, value, change, id, fault }: InputProps) => {
  const take = ({ currentTarget }: Input) => change(currentTarget.value === '' ? undefined : currentTarget.value);
  const isCode = field.schema.format === 'code';
  const list = field.suggestions.length > 0 ? `${id}-list` : undefined;
  const shared = {
    ...described(id, field, fault),
    placeholder: field.placeholder,
    disabled: field.isReadOnly,
    'aria-required': field.isRequired,
    onInput: take,
  };
  return html`<${Labelled} id=${id} field=${field} fault=${fault}>
    ${
      field.kind === 'long'
        ? html`<textarea rows=${isCode ? 10 : 6} class=${isCode ? 'code' : ''} spellcheck=${!isCode} ...${shared} value=${textOf(value)}></textarea>`
        : html`<input type=${field.isSecret ? 'password' : 'text'} autocomplete="off" list=${list} ...${shared} value=${textOf(value)} />`
    }
    ${list && html`<datalist id=${list}>${field.suggestions.map((one) => html`<option key=${one} value=${one} />`)}</datalist>`}
  </${Labelled}>`;
};

const NumberField = ({ field, value, change, id, fault }: InputProps) => {
  const take = ({ currentTarget }: Input): void => {
    const { value: typed } = currentTarget;
    if (typed.trim() === '') change(undefined);
    else change(Number.isNaN(Number(typed)) ? typed : Number(typed));
  };
  return html`<${Labelled} id=${id} field=${field} fault=${fault}>
    <input type="text" inputmode="decimal" autocomplete="off" ...${described(id, field, fault)} placeholder=${field.placeholder} disabled=${field.isReadOnly} aria-required=${field.isRequired} value=${textOf(value)} onInput=${take} />
  </${Labelled}>`;
};

/** A time in milliseconds, by the clock of the reader. */
const TimeField = ({ field, value, change, id, fault }: InputProps) => {
  const take = ({ currentTarget }: Input): void => {
    const time = new Date(currentTarget.value).getTime();
    change(Number.isNaN(time) ? undefined : time);
  };
  const text = typeof value === 'number' ? new Date(value).toLocaleString('sv').replace(' ', 'T') : '';
  return html`<${Labelled} id=${id} field=${field} fault=${fault}>
    <input type="datetime-local" step="1" ...${described(id, field, fault)} disabled=${field.isReadOnly} aria-required=${field.isRequired} value=${text} onChange=${take} />
  </${Labelled}>`;
};

const BooleanField = ({ field, value, change, id, fault }: InputProps) => html`<div class="field">
  <label class="inline"><input type="checkbox" ...${described(id, field, fault)} checked=${value === true} disabled=${field.isReadOnly} onChange=${({ currentTarget }: Input) => change(currentTarget.checked)} />${field.title}</label>
  <${Hint} id=${id} field=${field} fault=${fault} />
</div>`;

/** The value of an item that was just added. */
const emptyItems: Partial<Record<Kind, unknown>> = { object: {}, list: [], choices: [], boolean: false };

const ListField = ({ field, value, change, faults, at, id, fault }: InputProps) => {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const item = field.item as Field;
  const put = (i: number, one: unknown) => change(items.map((other, j) => (j === i ? (one ?? null) : other)));
  const remove = (i: number) => () => change(items.filter((_, j) => j !== i));
  const add = () => change([...items, emptyItems[item.kind] ?? '']);
  return html`<fieldset class="items" ...${described(id, field, fault)}>
    <legend>${field.title}${field.isRequired && html` <${Needed} />`}</legend>
    <${Hint} id=${id} field=${field} fault=${fault} />
    ${items.map(
      (one, i) => html`<div class="item" key=${i}>
        <${FieldOf} field=${{ ...item, title: `${item.title || field.title} ${i + 1}` }} value=${one ?? undefined} change=${(next: unknown) => put(i, next)} faults=${faults} at=${`${at}/${i}`} />
        <button type="button" disabled=${field.isReadOnly} onClick=${remove(i)} aria-label=${`Remove ${item.title || field.title} ${i + 1}`}>Remove</button>
      </div>`,
    )}
    <button type="button" disabled=${field.isReadOnly} onClick=${add} aria-label=${`Add to ${field.title}`}>Add</button>
  </fieldset>`;
};

/** An object that is not there need not have its members. */
const withoutNeeds = (field: Field): Field => ({
  ...field,
  fields: field.fields.map((one) => ({ ...one, isRequired: false })),
});

const ObjectField = ({
  field,
  value,
  change,
  faults,
  at,
  id,
  fault,
}: InputProps) => html`<fieldset ...${described(id, field, fault)}>
  ${field.title !== '' && html`<legend>${field.title}</legend>`}
  <${Hint} id=${id} field=${field} fault=${fault} />
  <${FieldsOf} field=${field.isRequired || isObject(value) ? field : withoutNeeds(field)} value=${value} change=${(next: Members) => change(field.isRequired || Object.keys(next).length > 0 ? next : undefined)} faults=${faults} at=${at} />
</fieldset>`;

const inputs = {
  text: TextField,
  long: TextField,
  number: NumberField,
  boolean: BooleanField,
  choice: Choice,
  choices: Choices,
  file: FileField,
  list: ListField,
  time: TimeField,
  object: ObjectField,
  json: JsonField,
};

const FieldOf = (props: Props) => {
  const id = useId();
  return html`<${inputs[props.field.kind]} ...${props} id=${`f${id}`} fault=${props.faults.get(props.at)} />`;
};

/** The fields of an object, in their order. */
export const FieldsOf = ({ field, value, change, faults, at }: Props) => {
  const members: Members = isObject(value) ? value : {};
  const put = (key: string) => (one: unknown) => {
    const { [key]: _former, ...others } = members;
    change(one === undefined ? others : { ...others, [key]: one });
  };
  return field.fields.map(
    (inner) =>
      html`<${FieldOf} key=${inner.key} field=${inner} value=${members[inner.key]} change=${put(inner.key)} faults=${faults} at=${`${at}/${escaped(inner.key)}`} />`,
  );
};
