import assert from 'node:assert/strict';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import { ok } from '../../support/people.ts';
import { useService } from '../../support/useService.ts';

const edge = (state = 'success') => ({ type: 'standard', state });

/** A person decides; yes leads to an expression that fails where `amount` is no number. */
const workflow = {
  name: 'Raise the limit',
  tasks: {
    workflow_start: {},
    workflow_end: {},
    ask: {
      name: 'ViewData',
      app: 'WorkFlowEngine',
      type: 'manual',
      summary: 'Is the limit right?',
      groups: [],
      variables: {
        incoming: { header: 'Limit', message: 'Raise it to $amount', variables: '$var.job.shown' },
        outgoing: {},
      },
    },
    parse: {
      name: 'parse',
      app: 'WorkFlowEngine',
      type: 'automatic',
      summary: 'Read the amount',
      variables: { incoming: { text: '$var.job.text' }, outgoing: { textObject: '$var.job.read' } },
    },
  },
  transitions: {
    workflow_start: { ask: edge() },
    ask: { parse: edge() },
    parse: { workflow_end: edge() },
    workflow_end: {},
  },
};

const form = {
  name: 'All kinds',
  struct: {
    type: 'object',
    items: [
      { nodeId: 'site', type: 'string', title: 'Site', description: '', placeholder: 'BON' },
      { nodeId: 'count', type: 'number', title: 'Count', description: '', placeholder: '', required: true },
      { nodeId: 'fast', type: 'boolean', title: 'Fast', description: '' },
      { nodeId: 'image', type: 'string', title: 'Image', description: '', enum: ['a', 'b'], enumNames: ['Old', 'New'] },
      { nodeId: 'plan', type: 'string', title: 'Plan', description: '', format: 'data-url' },
      { nodeId: 'vlan', type: 'string', title: 'VLAN', description: '', enum: [], base: '/vlans', binding: true },
      {
        nodeId: 'ports',
        type: 'array',
        title: 'Ports',
        description: '',
        items: [{ nodeId: 'port', type: 'string', title: 'Port', description: '' }],
      },
      {
        nodeId: 'owner',
        type: 'object',
        title: 'Owner',
        description: '',
        items: [{ nodeId: 'mail', type: 'string', title: 'Mail', description: '' }],
      },
    ],
  },
  schema: {
    type: 'object',
    title: 'All kinds',
    required: ['count'],
    properties: {
      site: { type: 'string', pattern: '^[A-Z]{3}$' },
      count: { type: 'integer', minimum: 1 },
      fast: { type: 'boolean' },
      image: { type: 'string', enum: ['a', 'b'] },
      plan: { type: 'string' },
      vlan: { type: 'string' },
      ports: { type: 'array', items: { type: 'string' } },
      owner: { type: 'object', properties: { mail: { type: 'string', not: { const: 'root' } } } },
    },
  },
};

// Takes some 15 s: one service and one Chromium.
describeInBrowser('console: jobs, forms and the inbox', () => {
  const service = useService();
  const newPage = useBrowser(service);
  const operations = '/operations-manager';
  let trigger: string;

  const startJob = async (text: string): Promise<string> =>
    ok(
      await service.ask('POST', `${operations}/jobs/start`, {
        workflow: workflow.name,
        options: { variables: { text, shown: { amount: 70 } } },
      }),
    ).data._id;
  const jobNow = async (id: string) => ok(await service.ask('GET', `${operations}/jobs/${id}`)).data;

  before(async () => {
    ok(await service.ask('POST', `${operations}/workflows`, workflow));
    ok(await service.ask('POST', '/json-forms/forms', form));
    const { data } = ok(await service.ask('POST', `${operations}/automations`, { name: 'Roll out' }));
    trigger = ok(
      await service.ask('POST', `${operations}/triggers`, {
        ...{ name: 'Roll out by hand', type: 'manual', enabled: true, actionType: 'automations' },
        ...{ actionId: data._id, formId: form.name, formData: null, legacyWrapper: false },
      }),
    ).data._id;
  });

  it('asks for a login by itself, without a window of the browser, and comes back to the link', async () => {
    const page = await newPage();
    await page.view('/jobs?status=error');
    const answer = await page.evaluate(() =>
      fetch('whoami', { headers: { 'X-Requested-With': 'test' } }).then((one) => [
        one.status,
        one.headers.get('www-authenticate'),
      ]),
    );
    assert.deepEqual(answer, [401, null]);
    assert.match((await service.as(null)('GET', '/whoami')).headers.get('www-authenticate')!, /^Basic/);
    await page.getByLabel('Username').fill('admin');
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Wrong user name or password').waitFor();
    await page.logIn();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    assert.equal(new URL(page.url()).hash, '#/jobs?status=error');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
  });

  it('runs an automation with a form of every kind, checked as typed and by the platform', async () => {
    const page = await newPage();
    await page.enter('/run');
    await page.getByRole('link', { name: 'Roll out by hand' }).click();
    await page.getByLabel('Site').fill('bonn');
    await page.getByText('It does not have the form ^[A-Z]{3}$').waitFor();
    await page.getByLabel('Site').fill('BON');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Count is needed.').waitFor();
    await page.getByLabel('Count').fill('3');
    await page.getByLabel('Fast').check();
    await page.getByLabel('Image').selectOption('New');
    await page
      .getByLabel('Plan')
      .setInputFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('plan') });
    await page.getByLabel('VLAN').fill('120');
    await page.getByRole('button', { name: 'Add to Ports' }).click();
    await page.getByRole('textbox', { name: 'Port 1' }).fill('Gi1/0/1');
    await page.getByLabel('Mail').fill('root');
    await page.looksRight('the form');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page
      .locator('.field', { has: page.getByLabel('Mail') })
      .getByRole('alert')
      .waitFor();
    assert.equal(await page.getByLabel('Site').inputValue(), 'BON');
    await page.getByLabel('Mail').fill('ops@example.net');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/#\/jobs\//);
    const { variables } = await jobNow(new URL(page.url()).hash.split('/')[2]!);
    const { _trigger, ...given } = variables;
    assert.equal(_trigger.id, trigger);
    assert.deepEqual(given, {
      ...{ site: 'BON', count: 3, fast: true, image: 'b', vlan: '120', ports: ['Gi1/0/1'] },
      ...{ plan: `data:text/plain;base64,${btoa('plan')}`, owner: { mail: 'ops@example.net' } },
    });
  });

  it('shows the inbox live, and takes an approval and a rejection by keyboard alone', async () => {
    const page = await newPage();
    await page.enter('/now');
    await page.getByText('Nothing waits for you.').waitFor();
    const job = await startJob('{"a": 1}');
    const todo = page.getByRole('article', { name: 'Is the limit right?' });
    await todo.getByText('Raise it to 70').waitFor();
    await page.looksRight('the inbox');
    await todo.getByRole('button', { name: 'Approve' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits for you.').waitFor();
    assert.equal((await jobNow(job)).status, 'complete');
    const second = await startJob('{}');
    await todo.getByRole('button', { name: 'Reject' }).focus();
    await page.keyboard.press('Space');
    await page.getByText('Nothing waits for you.').waitFor();
    assert.equal((await jobNow(second)).status, 'error');
  });

  it('follows a workflow, says why a task failed, and retries it', async () => {
    const page = await newPage();
    const id = await startJob('no JSON');
    await page.enter(`/jobs/${id}`);
    const graph = page.getByRole('group', { name: 'Workflow with 4 tasks' });
    await graph.getByText('Read the amount').waitFor();
    await page.getByRole('link', { name: 'Is the limit right?' }).first().click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('group', { name: 'Error of the job' }).waitFor();
    await graph.getByRole('link', { name: 'Read the amount blocked' }).click();
    await page.getByRole('group', { name: 'Error of the task' }).waitFor();
    await page.looksRight('a job in error');
    const { run } = (await jobNow(id)).tasks.parse;
    await page.getByRole('region', { name: 'Task: Read the amount' }).getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('status').getByText('The task runs again.').waitFor();
    assert.equal((await jobNow(id)).tasks.parse.run, run + 1);
  });

  it('finds, filters and sorts jobs, with all of it in the address', async () => {
    const page = await newPage();
    await page.enter('/jobs');
    await page.getByRole('searchbox', { name: 'Filter' }).fill('roll');
    await page.waitForURL(/filter=roll/);
    await page.getByText('1 row').waitFor();
    await page.getByRole('searchbox', { name: 'Filter' }).fill('no such job');
    await page.getByText('Nothing fits the filter.').waitFor();
    await page.getByRole('searchbox', { name: 'Filter' }).fill('');
    await page.getByRole('button', { name: 'Started' }).click();
    await page.waitForURL(/sort=created/);
    assert.equal(await page.getByRole('columnheader', { name: 'Started' }).getAttribute('aria-sort'), 'ascending');
    await page.reload();
    await page.getByRole('columnheader', { name: 'Started' }).waitFor();
    assert.equal(await page.getByRole('columnheader', { name: 'Started' }).getAttribute('aria-sort'), 'ascending');
  });

  it('says that the login has ended, and keeps what was typed', async () => {
    const page = await newPage();
    await page.enter(`/run/${trigger}`);
    await page.getByLabel('Site').fill('KLN');
    await page.getByLabel('Count').fill('2');
    await page.evaluate(() => fetch('logout', { method: 'POST' }));
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Your login has ended.').waitFor();
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Your login has ended.').waitFor({ state: 'detached' });
    assert.equal(await page.getByLabel('Site').inputValue(), 'KLN');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/#\/jobs\//);
  });
});
