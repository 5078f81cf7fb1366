import { request } from '../requests.ts';
import { open } from './connection.ts';

// Workers that claim jobs, or tasks of jobs, and complete them, each on a connection of its own, as fast as they are answered.

export type Work = {
  readonly port: number;
  readonly workers: number;
  readonly authorization: string;
  /** The component of the jobs, or the application of the tasks, that they do. */
  readonly does: { readonly jobs: string } | { readonly tasks: string };
  /** Ends after so long, or so many. */
  readonly milliseconds?: number;
  readonly count?: number;
};

/** `p50`: of the reports, in milliseconds. */
export type Worked = { readonly done: number; readonly milliseconds: number; readonly p50: number };

const om = '/operations-manager';

const work = ({
  port,
  workers,
  authorization,
  does,
  milliseconds = Infinity,
  count = Infinity,
}: Work): Promise<Worked> =>
  new Promise((resolve, reject) => {
    const post = (path: string, body: object): Buffer =>
      request('POST', `${om}${path}`, { Authorization: authorization }, JSON.stringify(body));
    const about = { worker: 'bench', wait: 30 };
    const claim =
      'jobs' in does
        ? post('/jobs/claim', { ...about, components: [does.jobs] })
        : post('/tasks/claim', { ...about, apps: [does.tasks] });
    const start = performance.now();
    const times: number[] = [];
    let begun = 0;
    let working = workers;

    const complete = (answer: Buffer | undefined): Buffer => {
      const [given] = JSON.parse(String(answer)).data;
      if (!given) throw new Error('There is not enough to do');
      return 'jobs' in does
        ? post(`/jobs/${given.job._id}/complete`, { claim: given.claim, variables: { saved: true } })
        : post(`/tasks/${given.task._id}/finish`, { claim: given.claim, result: 'success', outgoing: { saved: true } });
    };

    for (let n = 0; n < workers; n++) {
      let hasWork = false;
      let reported = 0;
      const next = (): void => {
        if (begun < count && performance.now() - start < milliseconds) {
          begun++;
          connection.send(claim);
          return;
        }
        connection.end();
        working--;
        if (working === 0)
          resolve({
            done: times.length,
            milliseconds: performance.now() - start,
            p50: times.sort((a, b) => a - b)[times.length >> 1] ?? NaN,
          });
      };
      const answered = (status: number, body: Buffer | undefined): void => {
        if (status !== 200) throw new Error(`Status ${status}: ${body}`);
        hasWork = !hasWork;
        if (hasWork) {
          const report = complete(body);
          reported = performance.now();
          connection.send(report);
          return;
        }
        times.push(performance.now() - reported);
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
