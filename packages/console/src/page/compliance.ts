import type { Operations } from '@automation-platform/client';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place } from './location.ts';
import { Action, descriptions, Facts, Link, List, pageQuery, Section, Shown, Status, Table, Time } from './parts.ts';
import { call, may, read } from './platform.ts';
import { Tabs } from './resource.ts';
import { Trees } from './trees.ts';

type Plan = Operations['configuration-manager.getCompliancePlan']['answer'] extends { readonly data: infer P }
  ? P
  : Operations['configuration-manager.searchCompliancePlans']['answer']['plans'][number];
type Instance = Operations['configuration-manager.searchCompliancePlanInstances']['answer']['plans'][number];
type Report = Operations['configuration-manager.getBatchReports']['answer'] extends {
  readonly results: readonly (infer R)[];
}
  ? R
  : Operations['configuration-manager.getComplianceReport']['answer'];
type Issue = Operations['configuration-manager.getComplianceReport']['answer']['issues'][number];

const isOfCompliance = ({ resource }: { readonly resource: { readonly kind: string } | null }): boolean =>
  /plan|compliance|job/i.test(resource?.kind ?? '');

const run = (planId: string) => () => call('configuration-manager.runCompliancePlan', { body: { planId } });

const PlanList = () => {
  const { filter } = place.value.query;
  const loaded = useLoaded(
    async () => {
      const { skip, limit } = pageQuery();
      const { plans, totalCount } = await read('configuration-manager.searchCompliancePlans', {
        body: { ...(filter && { name: filter }), options: { start: skip, limit } },
      });
      return { rows: plans, total: totalCount };
    },
    [JSON.stringify(place.value.query)],
    { when: isOfCompliance },
  );
  return html`<${List} label="Compliance plans" loaded=${loaded} keyOf=${(plan: Plan) => plan._id} empty="There is no compliance plan that you may read."
    columns=${[
      {
        title: 'Plan',
        kind: 'wide',
        cell: (plan: Plan) => html`<${Link} to=${['compliance', plan._id]}>${plan.name}</${Link}>`,
      },
      { title: 'Status', cell: (plan: Plan) => html`<${Status} word=${plan.status} />` },
      { title: 'Nodes', kind: 'number', cell: (plan: Plan) => plan.nodes.length },
      descriptions,
    ]} /><${TopIssues} />`;
};

const TopIssues = () => {
  const loaded = useLoaded(() => read('configuration-manager.getTopIssues', { body: { options: { limit: 10 } } }), [], {
    when: isOfCompliance,
  });
  type Top = Operations['configuration-manager.getTopIssues']['answer'][number];
  return html`<${Section} title="Issues that most devices have"><${Shown} loaded=${loaded}>${(
    rows: readonly Top[],
  ) => html`<${Table} label="Issues that most devices have" rows=${rows} keyOf=${(top: Top) => top.id + JSON.stringify(top.specWords)} empty="No report has an issue."
    columns=${[
      {
        title: 'Golden line',
        kind: 'wide',
        cell: (top: Top) => html`<code class="code">${top.specWords.map(({ value }) => value).join(' ')}</code>`,
      },
      { title: 'Devices', kind: 'number', cell: (top: Top) => top.count },
    ]} />`}</${Shown}></${Section}>`;
};

const Runs = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(
    () =>
      read('configuration-manager.searchCompliancePlanInstances', {
        body: { searchParams: { planId: id, limit: 25 } },
      }),
    [id],
    { when: isOfCompliance },
  );
  return html`<${Section} title="Runs"><${Shown} loaded=${loaded}>${({
    plans,
  }: {
    readonly plans: readonly Instance[];
  }) => html`<${Table} label="Runs" rows=${plans} keyOf=${(one: Instance) => one.id} empty="The plan has not run yet."
    columns=${[
      {
        title: 'Started',
        cell: (one: Instance) =>
          html`<${Link} to=${['compliance', id, one.batchId]}><${Time} at=${one.started} /></${Link}>`,
      },
      { title: 'Finished', cell: (one: Instance) => html`<${Time} at=${one.finished} />` },
      { title: 'Status', cell: (one: Instance) => html`<${Status} word=${one.jobStatus} />` },
      {
        title: 'Devices',
        kind: 'number',
        cell: (one: Instance) => one.nodes.reduce((sum, { processedDevices }) => sum + processedDevices, 0),
      },
      { title: 'Job', cell: (one: Instance) => html`<${Link} to=${['jobs', one.jobId]}>job</${Link}>` },
    ]} />`}</${Shown}></${Section}>`;
};

const OnePlan = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(() => read('configuration-manager.getCompliancePlan', { path: { id } }), [id], {
    when: isOfCompliance,
  });
  return html`<p class="crumbs"><${Link} to=${['compliance']}>All plans</${Link}></p>
    <${Shown} loaded=${loaded}>${(answer: unknown) => {
      const plan = ((answer as { readonly data?: Plan }).data ?? answer) as Plan;
      return html`<div class="title"><h2>${plan.name}</h2><${Status} word=${plan.status} />
          <span class="actions"><${Action} label="Run" kind="main" disabled=${plan.status !== 'active'} operation="configuration-manager.runCompliancePlan" does=${run(plan._id)} says="The plan runs." /></span></div>
        <p>${plan.description}</p>
        <${Facts} facts=${[['Nodes', plan.nodes.length], ['At once', plan.throttle], ['Changed', html`<${Time} at=${plan.lastUpdated} />`]]} />`;
    }}</${Shown}><${Runs} id=${id} />`;
};

const scoreOf = (report: Report): string => (report.score === null ? '' : String(report.score));

/** The reports of a run, the worst device first. */
const OneRun = ({ id, batch }: { readonly id: string; readonly batch: string }) => {
  const loaded = useLoaded(
    async () => {
      const answer = (await read('configuration-manager.getBatchReports', {
        path: { batchId: batch },
        query: { limit: 1000 },
      })) as unknown;
      const rows = ((answer as { readonly results?: readonly Report[] }).results ?? answer) as readonly Report[];
      return [...rows].sort((a, b) => (a.score ?? -1) - (b.score ?? -1));
    },
    [batch],
    { when: isOfCompliance },
  );
  return html`<p class="crumbs"><${Link} to=${['compliance']}>All plans</${Link}> / <${Link} to=${['compliance', id]}>the plan</${Link}></p>
    <${Section} title="Reports, the worst first"><${Shown} loaded=${loaded}>${(
      rows: readonly Report[],
    ) => html`<${Table} label="Reports" rows=${rows} keyOf=${(report: Report) => String(report.id)} empty="The run has no reports."
      columns=${[
        {
          title: 'Device',
          kind: 'wide',
          cell: (report: Report) =>
            html`<${Link} to=${['compliance', id, batch, String(report.id)]}>${report.deviceName}</${Link}>`,
        },
        { title: 'Grade', cell: (report: Report) => html`<${Status} word=${report.grade ?? report.status} />` },
        { title: 'Score', kind: 'number', cell: scoreOf },
        { title: 'Errors', kind: 'number', cell: (report: Report) => report.totals.errors },
        { title: 'Warnings', kind: 'number', cell: (report: Report) => report.totals.warnings },
        { title: 'Node', kind: 'wide', cell: (report: Report) => report.nodePath },
      ]} />`}</${Shown}></${Section}>`;
};

const OneReport = ({ id, batch, report }: { readonly id: string; readonly batch: string; readonly report: string }) => {
  const loaded = useLoaded(() => read('configuration-manager.getComplianceReport', { path: { id: report } }), [report]);
  type Whole = Operations['configuration-manager.getComplianceReport']['answer'];
  return html`<p class="crumbs">${batch === '-' ? html`<${Link} to=${['compliance']}>All plans</${Link}>` : html`<${Link} to=${['compliance', id, batch]}>The run</${Link}>`}</p>
    <${Shown} loaded=${loaded}>${(
      one: Whole,
    ) => html`<div class="title"><h2>${one.deviceName}</h2><${Status} word=${one.grade ?? one.status} /></div>
      <p>${one.reason}</p>
      <${Facts} facts=${[['Score', one.score], ['Node', one.nodePath], ['Checked', html`<${Time} at=${one.timestamp} />`], ['Device', html`<${Link} to=${['devices', one.deviceName]}>${one.deviceName}</${Link}>`]]} />
      <${Section} title="Issues"><${Table} label="Issues" rows=${one.issues} keyOf=${(issue: Issue) => JSON.stringify(issue)} empty="The device has every golden line."
        columns=${[
          { title: 'Severity', cell: (issue: Issue) => html`<${Status} word=${issue.severity} />` },
          { title: 'Issue', kind: 'wide', cell: (issue: Issue) => issue.message },
          { title: 'Below', cell: (issue: Issue) => html`<code class="code">${issue.parents.join(' / ')}</code>` },
          {
            title: 'On the device',
            kind: 'wide',
            cell: (issue: Issue) => html`<code class="code">${issue.found}</code>`,
          },
        ]} /></${Section}>`}</${Shown}>`;
};

const tabs = [
  ['Plans', ['compliance']],
  ['Golden configurations', ['compliance', 'trees']],
] as const;

/** Plans, their runs, and the reports of these; golden configurations. */
export const Compliance = () => {
  const [, id, batch, report] = place.value.path;
  if (id === 'trees') return html`<${Tabs} tabs=${tabs} /><${Trees} />`;
  if (!may('configuration-manager.searchCompliancePlans'))
    return html`<p class="empty">Your roles do not allow you to see compliance plans.</p>`;
  if (id === undefined) return html`<${Tabs} tabs=${tabs} /><${PlanList} />`;
  if (batch === undefined) return html`<${OnePlan} id=${id} />`;
  return report === undefined
    ? html`<${OneRun} id=${id} batch=${batch} />`
    : html`<${OneReport} id=${id} batch=${batch} report=${report} />`;
};
