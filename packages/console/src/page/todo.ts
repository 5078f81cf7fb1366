import type { Operations } from '@automation-platform/client';
import { isObject } from '@automation-platform/json';
import { useMemo, useState } from 'preact/hooks';
import type { FormDocument } from './fields.ts';
import { useFilling } from './filling.ts';
import { FieldsOf } from './form.ts';
import { html, textOf } from './html.ts';
import { Failure, Json, Link, reasonAgainst, Time } from './parts.ts';
import { call } from './platform.ts';

type Task = Operations['operations-manager.getTask']['answer']['data'];

const finish = (task: Task, result: 'success' | 'failure', data: unknown, key: string) =>
  call('operations-manager.finishTask', {
    path: { id: task._id },
    headers: { 'Idempotency-Key': key },
    body: { result, ...(data === undefined ? {} : { data }) },
  });

/** A document with markup, in a frame in which nothing runs and from which nothing is asked. */
const Markup = ({ text }: { readonly text: string }) =>
  html`<iframe class="markup" title="Text of the task" sandbox="" srcdoc=${text}></iframe>`;

/** `{name}` and `$name` in a text stand for variables. */
const filled = (text: string, variables: unknown): string =>
  isObject(variables)
    ? text.replace(/\{\{?\s*(\w+)\s*\}?\}|\$(\w+)/g, (whole, braced: string | undefined, bare: string | undefined) => {
        const value = variables[braced ?? bare ?? ''];
        return value === undefined ? whole : textOf(value);
      })
    : text;

const shownApart = new Set([
  'header',
  'message',
  'body',
  'variables',
  'btn_success',
  'btn_failure',
  'form_id',
  'jsonSchema',
  'uiSchema',
  'bindingSchema',
  'validationSchema',
  'struct',
]);

/** The words of a task for the person. */
const Words = ({ task }: { readonly task: Task }) => {
  const { header, message, body, variables } = task.incoming;
  const others = Object.entries(task.incoming).filter(([name]) => !shownApart.has(name));
  const text = typeof body === 'string' ? body : '';
  return html`
    ${textOf(header) !== '' && html`<h4>${filled(textOf(header), variables)}</h4>`}
    ${textOf(message) !== '' && html`<p class="words">${filled(textOf(message), variables)}</p>`}
    ${text !== '' && (task.name === 'ViewHTML' ? html`<${Markup} text=${text} />` : html`<p class="words">${filled(text, variables)}</p>`)}
    ${body !== undefined && text === '' && html`<${Json} value=${body} label="Body" />`}
    ${others.map(([name, value]) => html`<div key=${name}><span class="label">${name}</span><${Json} value=${value} label=${name} /></div>`)}
  `;
};

const documentOf = (task: Task): FormDocument | undefined => {
  if (task.form === undefined || task.form === null) return undefined;
  const form = task.form as FormDocument;
  const { uiSchema, bindingSchema, struct } = task.incoming;
  return {
    schema: form.schema,
    struct: form.struct ?? struct,
    uiSchema: form.uiSchema ?? uiSchema,
    bindingSchema: form.bindingSchema ?? bindingSchema,
  };
};

type AnswerProps = { readonly task: Task; readonly after: () => void };

/** The buttons of a task: which word stands for success, and which for failure. */
const wordsOfButtons = ({ incoming }: Task) => ({
  yes: textOf(incoming.btn_success),
  no: textOf(incoming.btn_failure),
});

/** The words of the task stand below the buttons' own names, which are the same for all tasks. */
const Buttons = ({
  task,
  send,
  isBusy,
}: {
  readonly task: Task;
  readonly send: (result: 'success' | 'failure') => void;
  readonly isBusy: boolean;
}) => {
  const { yes, no } = wordsOfButtons(task);
  const reason = reasonAgainst('operations-manager.finishTask');
  const state = { type: 'button', disabled: isBusy || reason !== undefined, title: reason ?? '' };
  return html`<div class="actions">
    <button class="main" ...${state} onClick=${() => send('success')}>Approve</button>
    <button ...${state} onClick=${() => send('failure')}>Reject</button>
    ${reason && html`<span class="quiet">${reason}</span>`}
    ${(yes !== '' || no !== '') && html`<span class="quiet">Approve means “${yes || 'success'}”, Reject “${no || 'failure'}”.</span>`}
  </div>`;
};

const FormAnswer = ({ task, document, after }: AnswerProps & { readonly document: FormDocument }) => {
  const beginning = [task.incoming.instance_data, task.incoming.formData].find(isObject);
  const { form, value, change, faults, error, isBusy, submit, place } = useFilling(document, {
    draft: task._id,
    beginning,
  });
  const send = (result: 'success' | 'failure') => {
    if (result === 'failure') return void submitPlain();
    void submit(
      async (data, key) => {
        await finish(task, result, data, key);
        after();
      },
      ['/data'],
    );
  };
  const [plainError, setPlainError] = useState<unknown>();
  const submitPlain = async (): Promise<void> => {
    try {
      await finish(task, 'failure', undefined, `${task._id}-no`);
      after();
    } catch (fault) {
      setPlainError(fault);
    }
  };
  return html`<form ref=${place} onSubmit=${(event: Event) => {
    event.preventDefault();
    send('success');
  }}>
    <${FieldsOf} field=${form} value=${value} change=${change} faults=${faults} at="" />
    <${Failure} error=${error ?? plainError} />
    <${Buttons} task=${task} send=${send} isBusy=${isBusy} />
  </form>`;
};

const PlainAnswer = ({ task, after }: AnswerProps) => {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const send = async (result: 'success' | 'failure'): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await finish(task, result, undefined, `${task._id}-${result}`);
      after();
    } catch (fault) {
      setError(fault);
    } finally {
      setBusy(false);
    }
  };
  return html`<${Failure} error=${error} /><${Buttons} task=${task} send=${send} isBusy=${isBusy} />`;
};

/** One task, to be done here. */
export const Todo = ({ task, after }: AnswerProps) => {
  const document = useMemo(() => documentOf(task), [task._id, task.form === null]);
  return html`<article aria-label=${task.summary} class="todo">
    <header>
      <h3>${task.summary}</h3>
      <${Link} to=${['jobs', task.job]} query=${{ task: task.task }}>Job</${Link}>
      ${task.groups.length > 0 && html`<span class="quiet">for ${task.groups.join(', ')}</span>`}
      <span class="quiet">since <${Time} at=${task.since} /></span>
      ${task.claim && html`<span class="quiet">taken by ${task.claim.worker}</span>`}
    </header>
    <${Words} task=${task} />
    ${task.form === null && html`<${Failure}>The form that this task shows is not there, or you may not read it.</${Failure}>`}
    ${document ? html`<${FormAnswer} task=${task} document=${document} after=${after} />` : html`<${PlainAnswer} task=${task} after=${after} />`}
  </article>`;
};
