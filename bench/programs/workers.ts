import { request } from '../requests.ts';
import { open } from './connection.ts';

// Workers that claim jobs and complete them, each on a connection of its own, as fast as they are answered.

export type Work = {
  readonly port: number;
  readonly workers: number;
  readonly authorization: string;
  readonly component: string;
  readonly milliseconds: number;
};

export type Worked = { readonly jobs: number; readonly milliseconds: number };

const jobs = '/operations-manager/jobs';

const work = ({ port, workers, authorization, component, milliseconds }: Work): Promise<Worked> =>
  new Promise((resolve, reject) => {
    const post = (path: string, body: object): Buffer =>
      request('POST', `${jobs}${path}`, { Authorization: authorization }, JSON.stringify(body));
    const claim = post('/claim', { components: [component], worker: 'bench', wait: 30 });
    const start = performance.now();
    let done = 0;
    let working = workers;

    const complete = (answer: Buffer | undefined): Buffer => {
      const [given] = JSON.parse(String(answer)).data;
      if (!given) throw new Error('There are not enough jobs');
      return post(`/${given.job._id}/complete`, { claim: given.claim, variables: { saved: true } });
    };

    for (let n = 0; n < workers; n++) {
      let hasJob = false;
      const next = (): void => {
        if (performance.now() - start < milliseconds) {
          connection.send(claim);
          return;
        }
        connection.end();
        working--;
        if (working === 0) resolve({ jobs: done, milliseconds: performance.now() - start });
      };
      const answered = (status: number, body: Buffer | undefined): void => {
        if (status !== 200) throw new Error(`Status ${status}: ${body}`);
        hasJob = !hasJob;
        if (hasJob) {
          connection.send(complete(body));
          return;
        }
        done++;
        next();
      };
      const connection = open(port, () => true, answered, reject);
      next();
    }
  });

process.on('message', (order: Work) => {
  work(order).then(
    (worked) => process.send?.(worked),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
