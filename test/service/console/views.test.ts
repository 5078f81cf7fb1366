import assert from 'node:assert/strict';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import { ok } from '../../support/people.ts';
import { sampled } from '../../support/sample.ts';
import { useService } from '../../support/useService.ts';

const hostileNames = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  'javascript:alert(1)',
  '${alert(1)}{{constructor.constructor("alert(1)")()}}',
  '<svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  '\u202Etxt.exe',
  'W'.repeat(200),
  '&lt;b&gt;&#x3c;i>',
  'constructor',
];

/** What an adapter may answer, and what the page must say. */
const answersOfDevices: readonly (readonly [unknown, string])[] = [
  [{ status: 'unverified', unrecognized: ['% Ambiguous'] }, 'Nobody knows if the device took the whole configuration.'],
  [{ status: 'success', verified: false }, 'does not show every line of it'],
  [{ status: 'success', verified: true, warnings: ['There is no copy after it'] }, 'There is no copy after it'],
  [{ status: 'queued' }, 'The answer does not say that the device took it.'],
  ['', 'The answer does not say that the device took it.'],
];

// Takes some 20 s: one service and one Chromium.
describeInBrowser('console: devices, compliance, triggers, time, people', () => {
  const service = useService();
  const newPage = useBrowser(service);
  const operations = '/operations-manager';
  let trigger: string;

  before(async () => {
    const { data: automation } = ok(await service.ask('POST', `${operations}/automations`, { name: 'React' }));
    const shared = { enabled: true, actionType: 'automations', actionId: automation._id };
    const made = ok(
      await service.ask('POST', `${operations}/triggers`, {
        ...shared,
        ...{ name: 'A link is down', type: 'eventSystem', source: 'monitoring', topic: 'linkDown', jst: null },
        schema: { type: 'object', required: ['severity'], properties: { severity: { const: 'critical' } } },
      }),
    );
    trigger = made.data._id;
    for (const name of hostileNames) {
      ok(
        await service.ask('POST', `${operations}/triggers`, {
          ...shared,
          ...{ name, description: name, type: 'manual', formId: null, formData: { [name]: name } },
        }),
      );
      ok(await service.ask('POST', '/configuration_manager/compliance_plans', { name, description: name }));
    }
  });

  it('says why an event does not fire a trigger, and which variables a job would get', async () => {
    const page = await newPage();
    await page.enter(`/triggers/${trigger}`);
    await page.getByLabel('Payload of an event').fill('{"severity": "low"}');
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByText('It would not fire.').waitFor();
    await page.getByRole('cell', { name: '/severity' }).waitFor();
    await page.getByLabel('Payload of an event').fill('{"severity": "critical"}');
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByText('It would fire.').waitFor();
    await page.getByRole('group', { name: 'Variables of the job' }).getByText('critical').waitFor();
    await page.getByLabel('Payload of an event').fill('{');
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByRole('alert').getByText('The payload is no JSON.').waitFor();
  });

  it('says that another one has changed the trigger meanwhile, and overwrites nothing', async () => {
    const page = await newPage();
    await page.enter(`/triggers/${trigger}`);
    await page.getByRole('button', { name: 'Disable' }).waitFor();
    await page.route(/\/triggers\/[0-9a-f]+$/, async (route) => {
      if (route.request().method() === 'PATCH')
        ok(await service.ask('PATCH', `${operations}/triggers/${trigger}`, { description: 'Of another' }));
      await route.continue();
    });
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Somebody else has changed it meanwhile.').waitFor();
    const { data } = ok(await service.ask('GET', `${operations}/triggers/${trigger}`));
    assert.deepEqual([data.enabled, data.description], [true, 'Of another']);
  });

  it('applies a configuration to a device, which shows it', async () => {
    const page = await newPage();
    await page.enter('/devices');
    await page.getByRole('link', { name: 'lab-01' }).click();
    await page.getByLabel('Lines').fill('interface Loopback7\n description from the console');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('status').getByText('The device took the configuration and shows every line').waitFor();
    await page.getByRole('group', { name: 'Running configuration' }).getByText('from the console').waitFor();
    await page.getByRole('cell', { name: 'verified' }).waitFor();
    for (const [answer, words] of answersOfDevices) {
      await page.route(/\/configuration$/, (route) => route.fulfill({ json: answer }), { times: 1 });
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByRole('alert').getByText(words).waitFor();
    }
    await page.getByText('% Ambiguous').waitFor({ state: 'detached' });
  });

  it('shows an answer that takes longer than the pause between events', async () => {
    const page = await newPage();
    await page.route(/\/operations-manager\/triggers\?/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await route.continue().catch(() => undefined);
    });
    await page.enter('/triggers');
    let isShown = false;
    const events = async (): Promise<void> => {
      while (!isShown) {
        ok(await service.ask('PATCH', `${operations}/triggers/${trigger}`, { description: `Changed ${Date.now()}` }));
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    };
    const shown = page.getByRole('link', { name: 'A link is down' }).waitFor();
    await Promise.all([events(), shown.finally(() => (isShown = true))]);
  });

  it('restores a template that was deleted, after a dry run', async () => {
    const page = await newPage();
    const template = { name: 'Greeting', template: 'Hello {{ name }}', type: 'jinja2' };
    const { _id: id } = ok(await service.ask('POST', '/template_builder/templates', template)).data;
    ok(await service.ask('DELETE', `/template_builder/templates/${template.name}`));
    await page.enter(`/time/template/${id}`);
    const created = page.getByRole('region', { name: /templateCreated/ });
    assert.equal(await created.getByRole('button', { name: 'Restore' }).isDisabled(), true);
    await created.getByRole('button', { name: 'Dry run' }).click();
    await created.getByText('A restore would change this:').waitFor();
    assert.equal((await service.ask('GET', '/template_builder/templates/Greeting')).status, 404);
    await created.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('status').getByText('The resource is restored.').waitFor();
    assert.equal((await service.ask('GET', '/template_builder/templates/Greeting')).status, 200);
  });

  it('makes a token, shows it once, and revokes it', async () => {
    const page = await newPage();
    await page.enter('/people');
    await page.getByLabel('Name of the token').fill('ci');
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = await page.locator('p[role=status] code').textContent();
    const call = () => service.as(null)('GET', '/whoami', undefined, { Authorization: `Bearer ${token}` });
    assert.equal((await call()).status, 200);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('There is no token.').waitFor();
    assert.equal((await call()).status, 401);
  });

  it('shows a moment in the past, in which nothing can be changed, and comes back', async () => {
    const page = await newPage();
    await page.enter('/triggers?filter=link');
    await page.getByRole('link', { name: 'A link is down' }).waitFor();
    await page.getByRole('slider', { name: 'As of' }).focus();
    await page.keyboard.press('Home');
    await page.waitForURL(/asOf=/);
    await page.getByText('Nothing fits the filter.').waitFor();
    await page.view(`/people?asOf=${new Date().toISOString()}`);
    await page.getByLabel('Name of the token').fill('past');
    assert.equal(await page.getByRole('button', { name: 'Create token' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await page.locator('button:enabled', { hasText: 'Create token' }).waitFor();
  });

  it('asks again for what the platform could not give for a moment', async () => {
    const page = await newPage();
    await page.route(/\/audit\/events/, (route) => route.fulfill({ status: 503, json: { message: 'Not yet' } }), {
      times: 1,
    });
    await page.enter('/time');
    await page.getByRole('alert').getByText('Not yet').waitFor();
    await page.getByRole('table').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  it('runs and shows nothing of hostile names but their text', async () => {
    const page = await newPage({ viewport: { width: 360, height: 800 } });
    const all = ok(await service.ask('GET', `${operations}/triggers?limit=100`)).data;
    const manual = all.filter(({ type }: { type: string }) => type === 'manual');
    await page.enter('/run');
    for (const address of ['/triggers', '/compliance', '/time', '/now']) {
      await page.view(address);
      await page.locator('main:not(:has(.loading)) :is(table, .empty)').first().waitFor();
      await page.looksRight(address);
    }
    for (const { _id, name } of sampled<{ _id: string; name: string }>(manual, 3)) {
      await page.view(`/run/${_id}`);
      await page.getByRole('heading', { level: 2 }).waitFor();
      assert.equal(await page.getByRole('heading', { level: 2 }).textContent(), name);
      await page.looksRight(name);
    }
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`has no fault that axe finds, ${colorScheme}`, async () => {
      const page = await newPage({
        colorScheme,
        viewport: { width: colorScheme === 'light' ? 360 : 1600, height: 900 },
      });
      await page.enter('/devices');
      for (const address of [
        '/devices',
        '/devices/lab-01',
        `/triggers/${trigger}`,
        '/people',
        '/compliance',
        '/time',
      ]) {
        await page.view(address);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.locator('main:not(:has(.loading)):has(table, .empty, h2)').waitFor();
        await page.looksRight(address);
      }
    });
});
