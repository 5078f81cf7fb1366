import assert from 'node:assert/strict';
import type { Route } from 'playwright-core';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import { ok } from '../../support/people.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

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

  it('says which devices failed, and asks them if they answer', async () => {
    const page = await newPage();
    const devices = ['fails-1', 'fails-2'].map((name) => ({ name, ostype: 'juniper-junos' }));
    ok(await service.ask('POST', '/configuration_manager/adapters', { name: 'Failing', type: 'lab', devices }));
    for (const { name } of devices) {
      const body = { config: { device: name, config: 'no such line' } };
      const answer = await service.ask('POST', `/configuration_manager/devices/${name}/configuration`, body);
      assert.equal(answer.status, 502, answer.text);
    }
    await page.route(/fails-2\/isAlive$/, (route) => route.fulfill({ json: { alive: false, reachable: false } }));
    await page.enter('/now');
    const failed = page.getByRole('region', { name: 'Devices that failed' });
    await failed.getByRole('link', { name: 'fails-1' }).waitFor();
    await failed.getByRole('button', { name: 'Ask if they answer' }).click();
    await failed
      .getByRole('row', { name: /^fails-1/ })
      .getByText('answers', { exact: true })
      .waitFor();
    await failed
      .getByRole('row', { name: /^fails-2/ })
      .getByText('does not answer')
      .waitFor();
  });

  it('finds an event by its source, and says why it fires no trigger', async () => {
    const page = await newPage();
    ok(await service.ask('POST', `${operations}/events/monitoring/linkDown`, { severity: 'low' }));
    const since = new Date(Date.now() - 3_600_000).toISOString();
    await page.enter(`/time?source=monitoring&since=${since}`);
    await page.getByRole('link', { name: 'linkDown' }).click();
    await page.getByRole('link', { name: 'all events of it' }).waitFor();
    await page.getByRole('button', { name: 'Test it against triggers' }).click();
    const payload = page.getByLabel('Payload of an event');
    await until(async () => (await payload.inputValue()).includes('low'), 'the payload of the event');
    const test = page.getByRole('button', { name: 'Test', exact: true });
    await test.click();
    await page.getByText('No trigger would fire.').waitFor();
    await page
      .getByRole('row', { name: /^A link is down does not fire/ })
      .getByText('/severity: must be')
      .waitFor();
    await payload.fill('{"severity": "critical"}');
    await test.click();
    await page.getByText('1 of 1 triggers of the topic would fire.').waitFor();
    await page.looksRight('the test bench');
  });

  it('finds events by a part of their topic, as it is typed', async () => {
    const page = await newPage();
    for (const topic of ['portFlapped', 'portCleared', 'fanFailed'])
      ok(await service.ask('POST', `${operations}/events/monitoring/${topic}`, {}));
    await page.enter('/time');
    await page.getByRole('searchbox', { name: 'Filter' }).pressSequentially('PORT');
    await page.getByRole('link', { name: 'fanFailed' }).waitFor({ state: 'detached' });
    // Each letter asks anew, and the last one counts.
    await page.waitForURL(/topicContains=PORT/);
    await page.isReady();
    const found = await page.locator('tbody td:nth-child(2)').allInnerTexts();
    assert.deepEqual(found.slice(0, 2), ['portCleared', 'portFlapped']);
    assert.match(page.url(), /topicContains=PORT/);
  });

  it('takes JSON as it is typed, before the field is left', async () => {
    const page = await newPage();
    await page.enter('/devices/-/groups/new');
    await page.getByLabel('Name').fill('Labs');
    await page.getByLabel('Query').fill('{"ostype":"ios"}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Labs' }).waitFor();
    const save = page.getByRole('button', { name: 'Save' });
    await save.waitFor();
    assert.ok(await save.isDisabled());
    const typed = '{ "ostype":"ios-xr" }';
    await page.getByLabel('Query').fill('');
    await page.getByLabel('Query').pressSequentially(typed);
    assert.equal(await page.getByLabel('Query').inputValue(), typed);
    assert.ok(await save.isEnabled());
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

  it('shows the view of the address, though the files of the view before it come later', async () => {
    const page = await newPage();
    let come = (): void => undefined;
    const late = new Promise<void>((resolve) => (come = resolve));
    await page.route(/\/page\/automations-\w+\.js$/, (route) => late.then(() => route.continue()));
    await page.enter('/automations');
    await page.view('/triggers');
    await page.getByRole('link', { name: 'A link is down' }).waitFor();
    const loaded = page.waitForResponse(/\/page\/automations-\w+\.js$/);
    come();
    await (await loaded).finished();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    await page.isReady();
    await page.getByRole('link', { name: 'A link is down' }).waitFor();
  });

  for (const [title, address, fail] of [
    ['no answer to who is logged in', /\/whoami$/, (route: Route) => route.abort('connectionrefused')],
    ['503 to who is logged in', /\/whoami$/, (route: Route) => route.fulfill({ status: 503, json: {} })],
    ['no answer to the stream of events', /\/events\/stream/, (route: Route) => route.abort('connectionrefused')],
  ] as const)
    it(`goes on after ${title}`, async () => {
      const page = await newPage();
      await page.route(address, fail, { times: 2 });
      await page.enter('/triggers');
      await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
      await page.isReady();
    });

  it('follows events while it is visible alone, and then shows what has changed meanwhile', async () => {
    const page = await newPage();
    const turn = (isHidden: boolean) =>
      page.evaluate((value) => {
        const { document, Event } = globalThis as any;
        Object.defineProperty(document, 'hidden', { configurable: true, value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    await page.enter('/triggers');
    const live = page.getByRole('status').getByText('Live', { exact: true });
    await live.waitFor();
    const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/events/stream'));
    await turn(true);
    await ended;
    ok(await service.ask('PATCH', `${operations}/triggers/${trigger}`, { name: 'A link was down' }));
    await turn(false);
    await page.getByRole('link', { name: 'A link was down' }).waitFor();
    await live.waitFor();
    ok(await service.ask('PATCH', `${operations}/triggers/${trigger}`, { name: 'A link is down' }));
    await page.getByRole('link', { name: 'A link is down' }).waitFor();
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
});
