import assert from 'node:assert/strict';
import type { Request } from 'playwright-core';
import { type ConsolePage, describeInBrowser, useBrowser } from '../../support/browser.ts';
import { useService } from '../../support/useService.ts';

/** The questions of Now and of the frame around it. Each is asked once. */
const ofNow = [
  '/login/options',
  '/whoami',
  '/operations-manager/events/stream',
  '/customization/banner',
  '/operations-manager/tasks',
  '/operations-manager/jobs',
  '/operations-manager/triggers',
  '/operations-manager/parked',
  '/audit/events deviceConfigurationFailed',
  '/audit/events compliancePlanRan',
  '/audit/events deviceComplianceChanged',
  '/audit/events runsRefused',
  '/health/status',
];

describeInBrowser('console: its first view', () => {
  const service = useService();
  const newPage = useBrowser(service);

  /** Opens a view in an empty browser; the requests until it is there. */
  const open = async (
    address: string,
    prepare: (page: ConsolePage) => Promise<unknown> = async () => undefined,
  ): Promise<{ readonly page: ConsolePage; readonly requests: readonly Request[] }> => {
    const page = await newPage();
    await prepare(page);
    const requests: Request[] = [];
    page.on('request', (request) => requests.push(request));
    await page.enter(address);
    await page.isReady();
    return { page, requests };
  };
  const isFile = (request: Request): boolean => new URL(request.url()).pathname.startsWith('/console');
  const questionOf = (request: Request): string => {
    const { pathname, searchParams } = new URL(request.url());
    return [pathname, searchParams.get('topic')].filter(Boolean).join(' ');
  };
  const sizeOf = async (requests: readonly Request[]): Promise<number> => {
    const sizes = await Promise.all(requests.map(async (request) => (await request.sizes()).responseBodySize));
    return sizes.reduce((sum, size) => sum + size, 0);
  };

  it('asks for each thing once, and for all that it shows at the same time', async () => {
    // No question of the view is answered before all are asked: one that waits for another's answer never comes.
    const isPart = (question: string): boolean => !/options|whoami|stream/.test(question);
    let remaining = ofNow.filter(isPart).length;
    let answerAll: () => void = () => undefined;
    const allAsked = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    const { requests } = await open('/now', (page) =>
      page.route(
        () => true,
        async (route) => {
          const request = route.request();
          if (request.method() === 'GET' && !isFile(request) && isPart(questionOf(request))) {
            remaining--;
            if (remaining === 0) answerAll();
            await allAsked;
          }
          await route.continue();
        },
      ),
    );
    const questions = requests.filter((request) => !isFile(request));
    assert.deepEqual(questions.map(questionOf).sort(), [...ofNow].sort());
  });

  it('has few files, all named by the page, of less than 50 kB as sent', async () => {
    const { page, requests } = await open('/now');
    const files = requests.filter(isFile);
    const named = await page.evaluate(() => {
      const { document } = globalThis as any;
      return [...document.querySelectorAll('link, script')].map(({ href, src }) => href || src);
    });
    for (const file of files.slice(1)) assert.ok(named.includes(file.url()), file.url());
    assert.ok(files.length <= 13, `${files.length} files`);
    const size = await sizeOf(files);
    assert.ok(size < 50_000, `${size} bytes`);
  });
});
