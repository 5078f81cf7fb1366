import {
  attempt,
  conclude,
  deviceConfiguration,
} from '../../../src/domain/configuration-manager/deviceConfigurations.ts';
import { specification } from '../../support/given.ts';

describe('An attempt to configure a device', () => {
  const given = specification(deviceConfiguration);
  const about = { adapter: 'lab', device: 'lab-01', digest: 'd', lines: 3 };
  const attempted = { topic: 'deviceConfigurationAttempted', data: about } as const;
  const answer = { $sealed: 's', tag: 't' };
  const applied = { topic: 'deviceConfigurationApplied', data: { ...about, status: 200, answer } } as const;

  it('is made, and has one outcome', () => {
    given().when(attempt, about).then(attempted);
    given(attempted).when(conclude, { status: 200 }, { answer }).then(applied);
    given(attempted)
      .when(conclude, { status: 200, unverified: true }, { answer })
      .then({ topic: 'deviceConfigurationApplied', data: { ...applied.data, unverified: true } });
    given(attempted)
      .when(conclude, { status: 422 }, { answer })
      .then({ topic: 'deviceConfigurationFailed', data: { ...about, status: 422, answer } });
    given(attempted)
      .when(conclude, { status: null, reason: 'gone' }, { answer: null })
      .then({ topic: 'deviceConfigurationFailed', data: { ...about, status: null, answer: null, reason: 'gone' } });
    given(attempted, applied).when(conclude, { status: null, reason: 'late' }, { answer: null }).thenNothing();
    given().when(conclude, { status: 200 }, { answer }).thenNothing();
  });
});
