import type { Operations } from '@automation-platform/client';
import { isObject } from '@automation-platform/json';
import type { FormDocument } from './fields.ts';
import { FilledForm, useFilling } from './filling.ts';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { goTo, place } from './location.ts';
import { Failure, Link, List, listQuery, rowsIn, Shown, say, Time } from './parts.ts';
import { call, read } from './platform.ts';

type Trigger = Extract<Operations['operations-manager.getTrigger']['answer']['data'], { readonly type: 'manual' }>;
type Automation = Operations['operations-manager.getAutomation']['answer']['data'];

const RunList = () => {
  const loaded = useLoaded(
    async () => {
      const page = rowsIn(
        await read('operations-manager.getTriggers', {
          query: {
            ...listQuery(),
            multiEquals: { type: 'manual', enabled: 'true' },
          },
        }),
      );
      const automations = await automationsOf(page.rows.map(({ actionId }) => actionId));
      return {
        total: page.total,
        rows: page.rows.map((trigger) => ({
          trigger: trigger as Trigger,
          automation: automations.get(trigger.actionId),
        })),
      };
    },
    [JSON.stringify(place.value.query)],
    { when: ({ resource }) => resource?.kind === 'trigger' || resource?.kind === 'automation' },
  );
  type Row = NonNullable<typeof loaded.value>['rows'][number];
  return html`<${List} label="What can be run" loaded=${loaded} keyOf=${({ trigger }: Row) => trigger._id}
    empty="There is no manual trigger that you may run."
    columns=${[
      {
        title: 'Run',
        kind: 'wide',
        sort: 'name',
        cell: ({ trigger }: Row) => html`<${Link} to=${['run', trigger._id]}>${trigger.name}</${Link}>`,
      },
      { title: 'Automation', kind: 'wide', cell: ({ automation }: Row) => automation?.name },
      {
        title: 'Description',
        kind: 'wide',
        cell: ({ trigger, automation }: Row) =>
          html`<span class="clip">${trigger.description || automation?.description}</span>`,
      },
      { title: 'Form', cell: ({ trigger }: Row) => (trigger.formId === null ? 'none' : 'form') },
      { title: 'Last run', cell: ({ trigger }: Row) => html`<${Time} at=${trigger.lastExecuted} otherwise="never" />` },
    ]} />`;
};

const automationsOf = async (ids: readonly string[]): Promise<ReadonlyMap<string, Automation>> => {
  const found = await Promise.all(
    [...new Set(ids)].map((id) =>
      read('operations-manager.getAutomation', { path: { id } }).then(
        ({ data }) => data,
        () => undefined,
      ),
    ),
  );
  return new Map(found.flatMap((one) => (one ? [[one._id, one] as const] : [])));
};

/** The form of a trigger. Without one, its form data are shown as they are, to be changed. */
const documentOf = async ({ formId, formData }: Trigger): Promise<FormDocument> => {
  if (formId !== null) return (await read('json-forms.getForm', { path: { id: formId } })) as FormDocument;
  const members = Object.entries(isObject(formData) ? formData : {});
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(members.map(([name, value]) => [name, { type: typeName(value) }])),
    },
  };
};

/** The type of a value, as forms ask for it. */
export const typeName = (value: unknown): string | undefined => {
  if (Array.isArray(value)) return value.every((one) => typeof one === 'string') ? 'array' : 'json';
  if (value === null || typeof value === 'object') return 'json';
  return typeof value;
};

type Loaded = { readonly trigger: Trigger; readonly automation: Automation; readonly document: FormDocument };

const RunForm = ({ trigger, automation, document }: Loaded) => {
  const filling = useFilling(document, { draft: `run ${trigger._id}`, beginning: trigger.formData ?? undefined });
  const run = (): Promise<void> =>
    filling.submit(
      async (formData, key) => {
        const { body } = await call('operations-manager.runManualTrigger', {
          path: { id: trigger._id },
          headers: { 'Idempotency-Key': key },
          body: { formData: formData as Readonly<Record<string, unknown>> },
        });
        say('The job has started.');
        goTo(['jobs', body.data._id]);
      },
      ['/formData', '/variables/formData', '/variables'],
    );
  return html`<div class="title"><h2>${trigger.name}</h2></div>
    <p>${trigger.description || automation.description}</p>
    <p class="quiet">Runs ${automation.name}.</p>
    ${!trigger.enabled && html`<${Failure}>The trigger is disabled.</${Failure}>`}
    <${FilledForm} filling=${filling} label=${trigger.name} operation="operations-manager.runManualTrigger" button="Run" send=${run}
      empty=${html`<p class="quiet">It asks for nothing.</p>`} />`;
};

const RunOne = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded<Loaded>(async () => {
    const { data } = await read('operations-manager.getTrigger', { path: { id } });
    const trigger = data as Trigger;
    const [{ data: automation }, document] = await Promise.all([
      read('operations-manager.getAutomation', { path: { id: trigger.actionId } }),
      documentOf(trigger),
    ]);
    return { trigger, automation, document };
  }, [id]);
  return html`<p class="crumbs"><${Link} to=${['run']}>All that can be run</${Link}></p>
    <${Shown} loaded=${loaded}>${(all: Loaded) => html`<${RunForm} ...${all} />`}</${Shown}>`;
};

/** The triggers that can be run by hand, and their forms. */
export const Run = () => {
  const [, id] = place.value.path;
  return id === undefined ? html`<${RunList} />` : html`<${RunOne} id=${id} />`;
};
