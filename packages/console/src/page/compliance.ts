import type { Operations } from '@automation-platform/client';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place } from './location.ts';
import { codeOf, Facts, Json, Link, Section, Shown, Status, Table, Time } from './parts.ts';
import { isOfCompliance, plans } from './plans.ts';
import { call, isNow, may, read } from './platform.ts';
import { Resources, Tabs } from './resource.ts';
import { trees } from './trees.ts';

type Report = Operations['configuration-manager.getBatchReports']['answer'] extends {
  readonly results: readonly (infer R)[];
}
  ? R
  : Operations['configuration-manager.getComplianceReport']['answer'];
type Issue = Operations['configuration-manager.getComplianceReport']['answer']['issues'][number];

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
        cell: (top: Top) => codeOf(top.specWords.map(({ value }) => value).join(' ')),
      },
      { title: 'Devices', kind: 'number', cell: (top: Top) => top.count },
    ]} />`}</${Shown}></${Section}>`;
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

type Whole = Operations['configuration-manager.getComplianceReport']['answer'];
type Remedy = Operations['configuration-manager.proposeRemediation']['answer'];
type ByHand = Remedy['byHand'][number];

const propose = 'configuration-manager.proposeRemediation';

/** The lines that would mend the device, and a way to try them out there. */
const Mending = ({ report: { id, deviceName } }: { readonly report: Whole }) => {
  const loaded = useLoaded(async () => (await call(propose, { path: { id: String(id) } })).body, [id]);
  return html`<${Section} title="Lines that would mend it"><${Shown} loaded=${loaded}>${({
    config,
    byHand,
  }: Remedy) => html`
    ${config !== '' && html`<${Json} value=${config} label="Lines that would mend it" /><p><${Link} to=${['devices', deviceName]} query=${{ mends: String(id) }}>Try them out on ${deviceName}</${Link}></p>`}
    ${
      byHand.length > 0 &&
      html`<${Table} label="By hand" rows=${byHand} keyOf=${(one: ByHand) => JSON.stringify(one)}
      columns=${[
        {
          title: 'To be done by hand',
          kind: 'wide',
          cell: ({ parents, line }: ByHand) => codeOf([...parents, line].join(' / ')),
        },
        { title: 'Reason', kind: 'wide', cell: ({ why }: ByHand) => why },
      ]} />`
    }`}</${Shown}></${Section}>`;
};

const severities = ['error', 'warning', 'info'];

const gravestFirst = (issues: readonly Issue[]): readonly Issue[] =>
  [...issues].sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));

const OneReport = ({ id, batch, report }: { readonly id: string; readonly batch: string; readonly report: string }) => {
  const loaded = useLoaded(() => read('configuration-manager.getComplianceReport', { path: { id: report } }), [report]);
  return html`<p class="crumbs">${batch === '-' ? html`<${Link} to=${['compliance']}>All plans</${Link}>` : html`<${Link} to=${['compliance']}>All plans</${Link}> / <${Link} to=${['compliance', id]}>the plan</${Link}> / <${Link} to=${['compliance', id, batch]}>the run</${Link}>`}</p>
    <${Shown} loaded=${loaded}>${(
      one: Whole,
    ) => html`<div class="title"><h2>${one.deviceName}</h2><${Status} word=${one.grade ?? one.status} /></div>
      <p>${one.reason}</p>
      <${Facts} facts=${[['Score', one.score], ['Node', one.nodePath], ['Checked', html`<${Time} at=${one.timestamp} />`], ['Device', html`<${Link} to=${['devices', one.deviceName]}>${one.deviceName}</${Link}>`]]} />
      <${Section} title="Issues"><${Table} label="Issues" rows=${gravestFirst(one.issues)} keyOf=${(issue: Issue) => JSON.stringify(issue)} empty="The device has every golden line."
        columns=${[
          { title: 'Severity', cell: (issue: Issue) => html`<${Status} word=${issue.severity} />` },
          { title: 'Issue', cell: (issue: Issue) => issue.message },
          {
            title: 'Golden line',
            kind: 'wide',
            cell: ({ parents, spec }: Issue) =>
              codeOf([...parents, spec.words.map(({ value }) => value).join(' ')].join(' / ')),
          },
          { title: 'On the device', kind: 'wide', cell: (issue: Issue) => codeOf(issue.found) },
        ]} /></${Section}>
      ${one.issues.length > 0 && may(propose) && isNow.value && html`<${Mending} report=${one} />`}`}</${Shown}>`;
};

const tabs = [plans, trees].map(({ title, at }) => [title, at] as const);

/** Plans, their runs, and the reports of these; golden configurations. */
export const Compliance = () => {
  const [, id, batch, report] = place.value.path;
  if (id === 'trees') return html`<${Tabs} tabs=${tabs} /><${Resources} kind=${trees} />`;
  if (id === undefined)
    return html`<${Tabs} tabs=${tabs} /><${Resources} kind=${plans} />${may('configuration-manager.getTopIssues') && html`<${TopIssues} />`}`;
  if (batch === undefined) return html`<${Resources} kind=${plans} />`;
  return report === undefined
    ? html`<${OneRun} id=${id} batch=${batch} />`
    : html`<${OneReport} id=${id} batch=${batch} report=${report} />`;
};
