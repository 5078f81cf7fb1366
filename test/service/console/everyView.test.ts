import { fileURLToPath } from 'node:url';
import { loadSample } from '../../../src/demo/load.ts';
import { type ConsolePage, describeInBrowser, manyViewsMs, useBrowser } from '../../support/browser.ts';
import { ok } from '../../support/people.ts';
import { sampled, seed } from '../../support/sample.ts';
import { adminPassword } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

const picture = (name: string): string => fileURLToPath(new URL(`../../../docs/pictures/${name}.png`, import.meta.url));

/** Two of them in `npm test`, which sees each view in one of the two. 640 pixels are 1,280 at 200 %. */
const looks = sampled(
  [
    ['light', 360],
    ['dark', 1600],
    ['light', 1600],
    ['dark', 360],
    ['light', 640],
    ['dark', 640],
  ] as const,
  2,
);

const edgeOf = (state = 'success') => ({ type: 'standard', state });
const task = (name: string, summary: string, incoming: object, outgoing: object = {}) => ({
  ...{ name, summary, app: 'WorkFlowEngine', type: 'automatic', variables: { incoming, outgoing } },
});

/** A workflow in which a task fails, and a person looks at it. */
const branching = {
  name: 'Change a VLAN',
  tasks: {
    workflow_start: {},
    workflow_end: {},
    greet: task('stringConcat', 'Name the change', { str: 'VLAN of ', stringN: ['$var.job.site'] }),
    read: task('parse', 'Read the plan', { text: '$var.job.text' }, { textObject: '$var.job.plan' }),
    note: task('stringConcat', 'Note the plan', { str: 'Plan of ', stringN: ['$var.job.site'] }),
    look: {
      ...task('ViewData', 'Look at the fault', { header: 'Plan', message: 'It cannot be read', variables: {} }),
      ...{ type: 'manual', groups: [] },
    },
  },
  transitions: {
    workflow_start: { greet: edgeOf() },
    greet: { read: edgeOf() },
    read: { note: edgeOf(), look: edgeOf('error') },
    note: { workflow_end: edgeOf() },
    look: { workflow_end: edgeOf() },
    workflow_end: {},
  },
};

// All views with the sample of the demo. UPDATE_PICTURES=1 makes the pictures of the docs, PICTURES=FOLDER one of each look. Takes some 40 s.
describeInBrowser('console: every view', () => {
  const service = useService();
  const newPage = useBrowser(service);
  let addresses: Readonly<Record<string, string>>;

  const first = async (path: string, members: string, pick: (one: any) => boolean = () => true): Promise<any> => {
    const { body } = await service.ask('GET', path);
    const list = members.split('.').reduce((value, name) => (name === '' ? value : value[name]), body);
    const found = list.find(pick);
    if (!found) throw new Error(`Nothing of ${path} is for the picture`);
    return found;
  };

  before(async () => {
    const { edge } = await loadSample(service.url, 'admin', adminPassword);
    const operations = '/operations-manager';
    const triggers = (pick: (one: any) => boolean) => first(`${operations}/triggers?limit=100`, 'data', pick);
    const job = await first(`${operations}/jobs?limit=100`, 'data', ({ status }) => status === 'error');
    const manual = await triggers(({ type, formId }) => type === 'manual' && formId !== null);
    const event = await triggers(({ type }) => type === 'eventSystem');
    const automation = await first(`${operations}/automations`, 'data');
    const { data: schedule } = ok(
      await service.ask('POST', `${operations}/triggers`, {
        ...{ name: 'Check every hour', type: 'schedule', enabled: true, formId: null, formData: null },
        ...{ actionType: 'automations', actionId: automation._id, processMissedRuns: 'none' },
        ...{ firstRunAt: Date.now() - 5.5 * 3_600_000, repeatUnit: 'hour', repeatFrequency: 1 },
      }),
    );
    const copy = async (): Promise<string> =>
      ok(await service.ask('POST', '/configuration_manager/devices/backups', { name: 'lab-01' })).id;
    const before = await copy();
    const config = 'interface Loopback0\n description Router id\nntp server 192.0.2.99';
    ok(
      await service.ask('POST', '/configuration_manager/devices/lab-01/configuration', {
        config: { device: 'lab-01', config },
      }),
    );
    ok(await service.ask('POST', `${operations}/workflows`, branching));
    const variables = { text: '{"vlan": 210', site: 'Bonn' };
    const { data: branched } = ok(
      await service.ask('POST', `${operations}/jobs/start`, { workflow: branching.name, options: { variables } }),
    );
    const group = await first('/authorization/groups?limit=1', 'results');
    const role = await first('/authorization/roles?limit=1', 'results');
    const account = await first('/authorization/accounts?limit=1', 'results');
    const inventory = await first('/inventory_manager/v1/inventories?limit=1', 'results');
    const deviceGroup = await first('/configuration_manager/deviceGroups?limit=1', 'results');
    const node = await first(`/inventory_manager/v1/inventories/${inventory._id}/nodes?limit=1`, 'results');
    const { data: template } = ok(
      await service.ask('POST', '/configuration_manager/templates', {
        ...{ name: 'Logging', template: 'logging host {{ host }}', variables: { host: '192.0.2.21' } },
      }),
    );
    const change = ok(
      await service.ask('POST', '/configuration_manager/changes', {
        ...{ devices: ['lab-01', 'lab-02', 'edge-01'], template: template.id, options: { dryRun: true } },
      }),
    );
    const search = { searchParams: { limit: 1 } };
    const [plan] = ok(
      await service.ask('POST', '/configuration_manager/search/compliance_plan_instances', search),
    ).plans;
    const report = await first(`/configuration_manager/compliance_reports/batch/${plan.batchId}`, '');
    addresses = {
      now: '/now',
      run: '/run',
      form: `/run/${manual._id}`,
      jobs: '/jobs',
      job: `/jobs/${job._id}`,
      graph: `/jobs/${branched._id}?task=read`,
      devices: '/devices',
      device: `/devices/lab-01?first=${before}`,
      inventories: '/devices/-/inventories',
      inventory: `/devices/-/inventories/${inventory._id}`,
      groupsOfDevices: '/devices/-/groups',
      groupOfDevices: `/devices/-/groups/${deviceGroup._id}`,
      node: `/devices/-/inventories/${inventory._id}/nodes/${node.name}`,
      templates: '/devices/-/templates',
      template: `/devices/-/templates/${template.id}`,
      newChange: `/devices/-/changes?devices=lab-01&template=${template.id}`,
      change: `/devices/-/changes/${change.jobId}`,
      newGroupOfDevices: '/devices/-/groups/new',
      compliance: '/compliance',
      plan: `/compliance/${plan.planId}`,
      newPlan: '/compliance/new',
      reports: `/compliance/${plan.planId}/${plan.batchId}`,
      report: `/compliance/${plan.planId}/${plan.batchId}/${report.id}`,
      trees: '/compliance/trees',
      tree: `/compliance/trees/${edge}/initial/base%2FHardening`,
      automations: '/automations',
      automation: `/automations/${automation._id}`,
      newAutomation: '/automations/new',
      triggers: '/triggers',
      schedule: `/triggers/${schedule._id}`,
      trigger: `/triggers/${event._id}`,
      newTrigger: `/triggers/new?automation=${automation._id}&type=schedule`,
      time: '/time',
      history: `/time/automation/${automation._id}`,
      past: `/now?asOf=${new Date().toISOString()}`,
      people: '/people',
      account: `/people/${account._id}`,
      groups: '/people/groups',
      group: `/people/groups/${group._id}`,
      roles: '/people/roles',
      role: `/people/roles/${role._id}`,
      mappings: '/people/mappings',
      newMapping: '/people/mappings/new',
      providers: '/people/providers',
      newProvider: '/people/providers/new',
    };
  });

  for (const [look, [colorScheme, width]] of looks.entries())
    it(`has no fault that axe finds and no fault of layout, ${colorScheme}, ${width} pixels wide`, async () => {
      const page = await newPage({ colorScheme, viewport: { width, height: 900 } });
      await page.view('/now');
      await page.getByRole('button', { name: 'Log in' }).waitFor();
      await page.looksRight('log in');
      await page.logIn();
      for (const [at, [name, address]] of Object.entries(addresses).entries()) {
        if (looks.length === 2 && (at + seed) % 2 !== look) continue;
        await page.view(address);
        await page.isReady();
        await page.looksRight(name);
        if (process.env.PICTURES)
          await page.screenshot({
            path: `${process.env.PICTURES}/${colorScheme}-${width}-${name}.png`,
            fullPage: true,
          });
      }
    }).timeout(manyViewsMs);

  /** Views of the docs, and how they come to what is shown. */
  const pictures: Readonly<Record<string, (page: ConsolePage) => Promise<void>>> = {
    now: async (page) => {
      await page.getByRole('progressbar', { name: `Progress of ${branching.name}` }).waitFor();
    },
    form: async () => undefined,
    job: async () => undefined,
    graph: async () => undefined,
    device: async (page) => {
      await page.getByLabel('Lines').fill('interface Loopback0\n description Router of the lab\nntp server 192.0.2.98');
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByRole('group', { name: 'Changed lines' }).waitFor();
      await page.getByRole('form', { name: 'Apply a configuration' }).evaluate((form: any) => form.scrollIntoView());
    },
    change: async () => undefined,
    tree: async () => undefined,
    schedule: async () => undefined,
  };

  for (const [name, prepare] of process.env.UPDATE_PICTURES ? Object.entries(pictures) : [])
    it(`makes the picture ${name} of the docs`, async () => {
      const page = await newPage({ viewport: { width: 1180, height: 760 } });
      await page.enter(addresses[name] as string);
      await page.isReady();
      await prepare(page);
      await page.isReady();
      await page.screenshot({ path: picture(`console-${name}`) });
    });
});
