import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type ConsolePage, describeInBrowser, handsOf, useBrowser, type Way, waysNow } from '../../support/browser.ts';
import { ok } from '../../support/people.ts';
import { adminPassword, startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
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

// Takes some 45 s on a busy machine: one service, which is started twice, and one Chromium.
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

  let turn = 0;
  const story = (title: string, tell: (page: ConsolePage, way: Way) => Promise<void>): void => {
    for (const way of waysNow(turn++)) it(`${title}, by ${way}`, async () => tell(await newPage(), way));
  };

  story('runs an automation with a form of every kind, checked as typed and by the platform', async (page, way) => {
    const { press, type, choose } = handsOf(page, way);
    const run = page.getByRole('button', { name: 'Run', exact: true });
    await page.enter('/run');
    await press(page.getByRole('link', { name: 'Roll out by hand' }));
    await type(page.getByLabel('Site'), 'bonn');
    await page.getByText('It does not have the form ^[A-Z]{3}$').waitFor();
    await type(page.getByLabel('Site'), 'BON');
    await press(run);
    await page.getByText('Count is needed.').waitFor();
    await type(page.getByLabel('Count'), '3');
    await press(page.getByLabel('Fast'), 'Space');
    await choose(page.getByLabel('Image'), 'New');
    await page
      .getByLabel('Plan')
      .setInputFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('plan') });
    await type(page.getByLabel('VLAN'), '120');
    await press(page.getByRole('button', { name: 'Add to Ports' }));
    await type(page.getByRole('textbox', { name: 'Port 1' }), 'Gi1/0/1');
    await type(page.getByLabel('Mail'), 'root');
    await page.looksRight('the form');
    await press(run);
    await page
      .locator('.field', { has: page.getByLabel('Mail') })
      .getByRole('alert')
      .waitFor();
    assert.equal(await page.getByLabel('Site').inputValue(), 'BON');
    await type(page.getByLabel('Mail'), 'ops@example.net');
    await press(run);
    await page.waitForURL(/#\/jobs\//);
    const { variables } = await jobNow(new URL(page.url()).hash.split('/')[2]!);
    const { _trigger, ...given } = variables;
    assert.equal(_trigger.id, trigger);
    assert.deepEqual(given, {
      ...{ site: 'BON', count: 3, fast: true, image: 'b', vlan: '120', ports: ['Gi1/0/1'] },
      ...{ plan: `data:text/plain;base64,${btoa('plan')}`, owner: { mail: 'ops@example.net' } },
    });
  });

  story('shows the inbox live, and takes an approval and a rejection', async (page, way) => {
    const { press } = handsOf(page, way);
    await page.enter('/now');
    await page.getByText('Nothing waits for you.').waitFor();
    const job = await startJob('{"a": 1}');
    const todo = page.getByRole('article', { name: 'Is the limit right?' });
    await todo.getByText('Raise it to 70').waitFor();
    await page.looksRight('the inbox');
    await press(todo.getByRole('button', { name: 'Approve' }));
    await page.getByText('Nothing waits for you.').waitFor();
    assert.equal((await jobNow(job)).status, 'complete');
    const second = await startJob('{}');
    await press(todo.getByRole('button', { name: 'Reject' }), 'Space');
    await page.getByText('Nothing waits for you.').waitFor();
    assert.equal((await jobNow(second)).status, 'error');
  });

  it('is read by the tree of a screen reader alone: from the login to the job that was approved', async () => {
    const id = await startJob('{"a": 1}');
    const page = await newPage();
    const session = await page.context().newCDPSession(page);
    /** The element of the tree with this role and name, as soon as it is there. */
    const find = async (role: string, name: RegExp): Promise<number> => {
      let found: number | undefined;
      await until(async () => {
        const { nodes } = await session.send('Accessibility.getFullAXTree');
        found = nodes.find(
          (node) => !node.ignored && node.role?.value === role && name.test(node.name?.value ?? ''),
        )?.backendDOMNodeId;
        return found !== undefined;
      }, `${role} ${name}`);
      return found!;
    };
    const use = async (role: string, name: RegExp, text?: string): Promise<void> => {
      await session.send('DOM.focus', { backendNodeId: await find(role, name) });
      if (text === undefined) await page.keyboard.press('Enter');
      else await page.keyboard.insertText(text);
    };
    await page.view('/run');
    await use('textbox', /^Username$/, 'admin');
    await use('textbox', /^Password$/, adminPassword);
    await use('button', /^Log in$/);
    await find('heading', /^Run$/);
    await use('link', /^Now$/);
    await find('article', /^Is the limit right\?$/);
    await find('StaticText', /^Raise it to 70$/);
    await use('button', /^Approve$/);
    await find('StaticText', /^The task is done\.$/);
    await use('link', /^Jobs$/);
    await find('columnheader', /^Status$/);
    await use('link', /^Raise the limit$/);
    await find('heading', /^Raise the limit$/);
    await find('StaticText', /^complete$/);
    assert.equal((await jobNow(id)).status, 'complete');
  });

  story('follows a workflow, says why a task failed, and retries it', async (page, way) => {
    const { press } = handsOf(page, way);
    const id = await startJob('no JSON');
    await page.enter('/now');
    await page.getByRole('region', { name: 'Jobs under way' }).getByRole('progressbar').first().waitFor();
    await page.view(`/jobs/${id}`);
    const graph = page.getByRole('group', { name: 'Workflow with 4 tasks' });
    await graph.getByText('Read the amount').waitFor();
    await press(page.getByRole('link', { name: 'Is the limit right?' }).first());
    await press(page.getByRole('button', { name: 'Approve' }));
    await page.getByRole('group', { name: 'Error of the job' }).waitFor();
    await press(graph.getByRole('link', { name: 'Read the amount blocked' }));
    await page.getByRole('group', { name: 'Error of the task' }).waitFor();
    await page.looksRight('a job in error');
    const { run } = (await jobNow(id)).tasks.parse;
    await press(page.getByRole('region', { name: 'Task: Read the amount' }).getByRole('button', { name: 'Retry' }));
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

  describe('with a form that is filled in,', () => {
    const login = { user: 'anna', password: 'a long enough password' };
    let anna: string;
    before(async () => {
      const body = { username: login.user, password: login.password, memberOf: ['operators'] };
      anna = ok(await service.ask('POST', '/authorization/accounts', body)).data._id;
    });
    const memberOf = async (groups: readonly string[]): Promise<void> => {
      ok(await service.ask('PATCH', `/authorization/accounts/${anna}`, { memberOf: groups }));
    };
    const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true });
    const network = async (page: Page, latency: number): Promise<void> => {
      const session = await page.context().newCDPSession(page);
      const throughput = { downloadThroughput: -1, uploadThroughput: -1 };
      await session.send('Network.emulateNetworkConditions', { offline: false, latency, ...throughput });
    };

    let again: TestService | undefined;
    after(() => again?.stop());

    type Trouble = {
      readonly words: string | RegExp;
      /** Happens before the form is sent. */
      readonly comes: (page: Page) => Promise<unknown>;
      readonly goes: (page: Page) => Promise<unknown>;
      /** True if the page says it by itself, and the form cannot be sent any more. */
      readonly isSaidBefore?: boolean;
    };
    const troubles: Readonly<Record<string, Trouble>> = {
      'the login ends': {
        words: 'Your login has ended.',
        isSaidBefore: true,
        comes: (page) => page.evaluate(() => fetch('logout', { method: 'POST' })),
        goes: async (page) => {
          await page.getByLabel('Password').fill(login.password);
          await page.getByRole('button', { name: 'Log in' }).click();
          await page.getByText('Your login has ended.').first().waitFor({ state: 'detached' });
          await run(page).click();
        },
      },
      'the rights are lost': {
        words: /No role of yours allows/,
        // The page does not know it yet.
        comes: async (page) => {
          const body = await page.evaluate(() => fetch('whoami').then((response) => response.text()));
          await page.route(/\/whoami$/, (route) => route.fulfill({ body, contentType: 'application/json' }));
          await memberOf(['readers']);
        },
        goes: async (page) => {
          await page.unroute(/\/whoami$/);
          await page.getByText('Your roles do not allow this.').waitFor();
          assert.ok(await run(page).isDisabled());
          await memberOf(['operators']);
          await run(page).click();
        },
      },
      'the answer is lost': {
        words: 'All that you typed is still here.',
        comes: (page) =>
          page.route(
            /\/run$/,
            async (route) => {
              await route.fetch();
              await route.abort('connectionreset');
            },
            { times: 1 },
          ),
        goes: (page) => run(page).click(),
      },
      'the network is slow': {
        words: 'The platform takes long to answer',
        comes: (page) => network(page, 8000),
        goes: async (page) => {
          assert.ok(await run(page).isDisabled());
          await network(page, 0);
        },
      },
      'the node is down': {
        words: 'The platform does not answer. The page goes on when it is back.',
        comes: async (page) => {
          await page.getByText('Live', { exact: true }).waitFor();
          await page.route(/\/events\/stream/, (route) => route.abort('connectionrefused'));
          await service.end();
        },
        goes: async (page) => {
          again = await startService({ PORT: new URL(service.url).port }, service.folder);
          await page.getByText('The page goes on when it is back.').waitFor({ state: 'detached' });
          ok(await service.ask('POST', `${operations}/automations`, { name: 'Made meanwhile' }));
          await new Promise((resolve) => setTimeout(resolve, 2500));
          await page.unroute(/\/events\/stream/);
          await page.getByText(/^Live, \d+ events? came while it was away$/).waitFor();
          await run(page).click();
        },
      },
    };

    it('disables what the rights no longer allow, and enables it when they are back, without a reload', async () => {
      const page = await newPage();
      await page.enter(`/run/${trigger}`, login);
      await page.getByLabel('VLAN').fill('typed');
      await page.locator('button:enabled', { hasText: 'Run' }).waitFor();
      await memberOf(['readers']);
      await page.locator('button:disabled', { hasText: 'Run' }).waitFor();
      await page.getByText('Your roles do not allow this.').waitFor();
      await page.looksRight('a form without rights');
      await memberOf(['operators']);
      await page.locator('button:enabled', { hasText: 'Run' }).waitFor();
      assert.equal(await page.getByLabel('VLAN').inputValue(), 'typed');
    });

    it('says in the other tab at once that the login has ended, and goes on there after a login', async () => {
      const page = await newPage();
      await page.enter(`/run/${trigger}`, login);
      const other = await page.context().newPage();
      await other.goto(page.url());
      await other.getByLabel('VLAN').fill('typed');
      await page.getByRole('button', { name: 'Log out' }).click();
      await other.getByRole('alert').getByText('Your login has ended.').waitFor();
      assert.ok(await run(other).isDisabled());
      await page.logIn(login);
      await other.getByText('Your login has ended.').first().waitFor({ state: 'detached' });
      assert.ok(await run(other).isEnabled());
      assert.equal(await other.getByLabel('VLAN').inputValue(), 'typed');
    });

    for (const [title, { words, comes, goes, isSaidBefore = false }] of Object.entries(troubles))
      it(`says that ${title}, loses nothing that was typed, and starts one job`, async () => {
        const page = await newPage();
        await page.enter(`/run/${trigger}`, login);
        await page.getByLabel('VLAN').fill(title);
        await page.getByLabel('Count').fill('2');
        await comes(page);
        if (!isSaidBefore) await run(page).click();
        await page.getByText(words).first().waitFor();
        assert.equal(await page.getByLabel('VLAN').inputValue(), title);
        await goes(page);
        await page.waitForURL(/#\/jobs\//);
        const { data } = ok(await service.ask('GET', `${operations}/jobs?limit=100`));
        assert.equal(data.filter(({ variables }: any) => variables?.vlan === title).length, 1);
      });
  });
});
