import assert from 'node:assert/strict';
import { describeInBrowser, manyViewsMs, useBrowser } from '../../support/browser.ts';
import { ok } from '../../support/people.ts';
import { sampled } from '../../support/sample.ts';
import { useService } from '../../support/useService.ts';

const codes = [
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '<svg onload=alert(1)>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s>',
  '<iframe srcdoc="<script>parent.alert(1)</script>">',
  '<a href="javascript:alert(1)">x</a>',
  '<details open ontoggle=alert(1)>',
  '<base href="//evil.invalid/">',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<style>*{display:none}</style>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<object data="javascript:alert(1)">',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  `\${alert(1)}`,
  '{{constructor.constructor("alert(1)")()}}',
  'W'.repeat(120),
  '\u202Etxt.exe\u2066',
  'constructor',
  '../../../etc/passwd?x=1#y',
];
/** Places in which a text may land. */
const places: readonly ((code: string) => string)[] = [
  (code) => code,
  (code) => `">${code}`,
  (code) => `'>${code}`,
  (code) => `' autofocus onfocus='${code}`,
  (code) => `</textarea></title></script>${code}`,
  (code) => `--><!-- ${code}`,
  (code) => `\`>${code}`,
  (code) => code.replaceAll('<', '&lt;').replaceAll('>', '&#x3e;'),
  (code) => encodeURIComponent(code),
  (code) => `%00${code}`,
  (code) => `${code} ${code}`,
  (code) => `url(${code}); background: url(${code})`,
  (code) => `x\u200b${code}\u0300`,
  (code) => `#/jobs?filter=${code}`,
  (code) => `]]>${code}`,
  (code) => `\\"${code}`,
];

/** Texts, each once. */
const texts = [...new Set(places.flatMap((place) => codes.map(place)))];

// Takes some 25 s: one service and one Chromium.
describeInBrowser('console: hostile texts', () => {
  const service = useService();
  const newPage = useBrowser(service);
  const operations = '/operations-manager';
  const addresses: string[] = [];
  let automation: string;

  /** The member of the answer at a path; undefined if the text was refused. */
  const made = async (path: string, body: object, ...names: readonly string[]): Promise<any> => {
    const answer = await service.ask('POST', path, body);
    assert.ok(answer.status < 500, answer.text);
    return answer.status === 200 ? names.reduce((value, name) => value?.[name], answer.body) : undefined;
  };

  const addressOf = (prefix: string, id: string | undefined): string | undefined => id && `${prefix}/${id}`;

  /** A resource with the text in its name and wherever else it goes; the address of its view. */
  const kinds: readonly ((text: string) => Promise<string | undefined>)[] = [
    async (text) => {
      const body = { name: text, description: text, componentName: text };
      return addressOf('/automations', await made(`${operations}/automations`, body, 'data', '_id'));
    },
    async (text) => {
      const body = {
        ...{ name: text, description: text, type: 'manual', enabled: true, formId: null, formData: { [text]: text } },
        ...{ actionType: 'automations', actionId: automation },
      };
      return addressOf('/run', await made(`${operations}/triggers`, body, 'data', '_id'));
    },
    async (text) => {
      const body = {
        ...{ name: text, description: text, type: 'eventSystem', source: 'monitoring', topic: 'x', jst: null },
        ...{ enabled: true, actionType: 'automations', actionId: automation, schema: { const: text } },
      };
      return addressOf('/triggers', await made(`${operations}/triggers`, body, 'data', '_id'));
    },
    async (text) => {
      const body = { name: text, options: { description: text } };
      return addressOf('/compliance', await made('/configuration_manager/compliance_plans', body, '_id'));
    },
    async (text) => {
      const body = { name: text, description: text, deviceType: 'cisco-ios' };
      return addressOf('/compliance/trees', await made('/configuration_manager/configs', body, '_id'));
    },
    async (text) => {
      const body = { name: text, description: text, devices: [text] };
      return addressOf('/devices/-/groups', await made('/configuration_manager/devicegroup', body, 'id'));
    },
    async (text) => {
      const tasks = {
        workflow_start: {},
        workflow_end: {},
        see: {
          ...{ name: 'ViewData', app: 'WorkFlowEngine', type: 'manual', summary: text, groups: [] },
          variables: { incoming: { header: text, message: text, body: text, btn_success: text }, outgoing: {} },
        },
      };
      const edge = { type: 'standard', state: 'success' };
      const transitions = { workflow_start: { see: edge }, see: { workflow_end: edge }, workflow_end: {} };
      await made(`${operations}/workflows`, { name: text, description: text, tasks, transitions });
      const options = { description: text, variables: { [text]: text } };
      return addressOf('/jobs', await made(`${operations}/jobs/start`, { workflow: text, options }, 'data', '_id'));
    },
    async (text) => {
      const body = { name: text, description: text, groups: [], tags: [text] };
      return addressOf(
        '/devices/-/inventories',
        await made('/inventory_manager/v1/inventories', body, 'result', '_id'),
      );
    },
    async (text) => {
      const body = { name: text, description: text };
      return addressOf('/people/groups', await made('/authorization/groups', body, 'data', '_id'));
    },
    async (text) => {
      const config = `interface ${text.replace(/[\r\n]/g, '')}\n description ${text.replace(/[\r\n]/g, '')}`;
      const path = '/configuration_manager/devices/lab-03/configuration';
      await service.ask('POST', path, { config: { device: 'lab-03', config } });
      return '/devices/lab-03';
    },
  ];

  before(async () => {
    automation = ok(await service.ask('POST', `${operations}/automations`, { name: 'Plain' })).data._id;
    const all = await Promise.all(texts.map((text, i) => (kinds[i % kinds.length] as (typeof kinds)[number])(text)));
    addresses.push(...new Set(all.filter((one) => one !== undefined)));
    for (const at of kinds.keys())
      assert.ok(
        all.some((one, i) => one !== undefined && i % kinds.length === at),
        `no resource of kind ${at} is stored`,
      );
  });

  it('are shown as a document where a task has markup: nothing runs, and nothing leaves the frame', async () => {
    const body = `<h1>Read this</h1>${codes.join('\n')}<img src="https://evil.invalid/x.png"><form action="//evil.invalid"></form>`;
    const tasks = {
      workflow_start: {},
      workflow_end: {},
      see: {
        ...{ name: 'ViewHTML', app: 'WorkFlowEngine', type: 'manual', summary: 'Markup', groups: [] },
        variables: { incoming: { header: 'Markup', message: '', body, variables: {} }, outgoing: {} },
      },
    };
    const edge = { type: 'standard', state: 'success' };
    const transitions = { workflow_start: { see: edge }, see: { workflow_end: edge }, workflow_end: {} };
    ok(await service.ask('POST', `${operations}/workflows`, { name: 'Markup', tasks, transitions }));
    const { _id: job } = ok(await service.ask('POST', `${operations}/jobs/start`, { workflow: 'Markup' })).data;
    const page = await newPage({ viewport: { width: 360, height: 800 } });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.addInitScript(() => {
      const { document, window } = globalThis as any;
      window.reports = [];
      document.addEventListener('securitypolicyviolation', (event: any) =>
        window.reports.push(event.violatedDirective),
      );
    });
    await page.enter(`/jobs/${job}?task=see`);
    const frame = page.frameLocator('iframe');
    await frame.getByText('Read this').waitFor();
    await page.isReady();
    await page.staysInside('a task with markup');
    assert.equal(await page.locator('iframe').getAttribute('sandbox'), '');
    assert.deepEqual(await page.evaluate(() => (globalThis as any).reports), []);
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(service.url) && !url.startsWith('data:') && url !== 'about:srcdoc'),
      [],
    );
    // The browser says in its console what the frame may not do. That is no fault of the page.
    assert.deepEqual(
      page.faults
        .splice(0)
        .filter((fault) => !/about:srcdoc|frame-ancestors|img-src|Content Security Policy/.test(fault)),
      [],
    );
    ok(await service.ask('POST', `${operations}/jobs/cancel`, { jobIds: [job] }));
  });

  it('are 300 at least, and most of them are stored', () => {
    assert.ok(texts.length >= 300, `${texts.length} texts`);
    assert.ok(addresses.length > 150, `${addresses.length} views`);
  });

  for (const width of sampled([360, 1280], 1))
    it(`are text and nothing else, in no box too wide, ${width} pixels wide`, async () => {
      const page = await newPage({ viewport: { width, height: 800 } });
      await page.enter('/now');
      const lists = ['/now', '/run', '/jobs', '/devices/-/groups', '/devices/-/inventories', '/compliance'].concat([
        '/compliance/trees',
        '/automations',
        '/triggers',
        '/people/groups',
        '/time',
      ]);
      const withPages = lists.flatMap((list) => [list, `${list}?skip=25`]);
      for (const address of [...sampled(withPages, 12), ...sampled(addresses, 8)]) {
        await page.view(address);
        await page.isReady();
        await page.staysInside(address);
      }
      // Nothing that the texts say has become an element.
      const elements = await page.locator('main :is(img, script, iframe, object, base, meta, math, animate)').count();
      assert.equal(elements, 0);
    }).timeout(manyViewsMs);
});
