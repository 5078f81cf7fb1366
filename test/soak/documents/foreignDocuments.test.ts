import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { exactText, exactValue, type Members } from '@automation-platform/json';
import fc from 'fast-check';
import { automations } from '../../support/foreign/automations.ts';
import { analyticTemplates, commandTemplates } from '../../support/foreign/commandTemplates.ts';
import { forms, oldForms } from '../../support/foreign/forms.ts';
import type { Kind, Request } from '../../support/foreign/kind.ts';
import { packages } from '../../support/foreign/packages.ts';
import { resourceModels } from '../../support/foreign/resourceModels.ts';
import { scheduledJobs } from '../../support/foreign/scheduledJobs.ts';
import { templates } from '../../support/foreign/templates.ts';
import { ownTrees, publishedTrees } from '../../support/foreign/trees.ts';
import { type Answer, startService, type TestService } from '../../support/service.ts';

const kinds: readonly Kind[] = [
  commandTemplates,
  analyticTemplates,
  packages,
  templates,
  forms,
  oldForms,
  publishedTrees,
  ownTrees,
  scheduledJobs,
  automations,
  resourceModels,
];

/** `npm run soak` tries more documents than `npm test`. */
const runs = process.env.SOAK_ROUNDS ? 10_000 : 300;
const seed = 13;

describe('documents of other installations, over HTTP', () => {
  let here: TestService;
  let elsewhere: TestService;
  before(async () => {
    here = await startService();
    elsewhere = await startService();
  });
  after(async () => {
    await here.stop();
    await elsewhere.stop();
  });

  const asked = (service: TestService, { method, path, body }: Request): Promise<Answer> =>
    service.ask(method, path, body);

  const taken = async (service: TestService, request: Request): Promise<string | null> => {
    const answer = await asked(service, request);
    assert.equal(answer.status, 200, `${answer.text}\n${request.body}`);
    return answer.headers.get('x-event-position');
  };

  /** The text of an export, without white space. */
  const given = async (service: TestService, request: Request, inside = (text: string) => text): Promise<string> => {
    const { status, text } = await asked(service, request);
    assert.equal(status, 200, text);
    return exactText(exactValue(inside(text)));
  };

  /** The same, once the reactions to its import have ended: on a busy machine the answer does not wait for them. */
  const givenAs = async (written: string, ...[service, request, inside]: Parameters<typeof given>): Promise<string> => {
    let text = await given(service, request, inside);
    for (let tries = 0; text !== written && tries < 100; tries++) {
      await pause(100);
      text = await given(service, request, inside);
    }
    assert.equal(text, written);
    return text;
  };

  for (const { name, documents, importing, exporting, inside, needs = [] } of kinds)
    it(`${name}: ${runs} are taken, exported, equal, taken elsewhere, equal`, async function () {
      this.timeout(process.env.SOAK_ROUNDS ? 7_200_000 : 600_000);
      for (const service of [here, elsewhere]) for (const request of needs) await taken(service, request);
      await fc.assert(
        fc.asyncProperty(documents, async (document: Members) => {
          const written = exactText(document);
          const position = await taken(here, importing(written));
          const back = await givenAs(written, here, exporting(document), inside);
          const again = await taken(here, importing(back));
          assert.ok(again === null || again === position, 'the same document again is a change');
          await taken(elsewhere, importing(back));
          await givenAs(written, elsewhere, exporting(document), inside);
        }),
        { numRuns: runs, seed, endOnFailure: process.env.SHRINK === undefined },
      );
    });
});
