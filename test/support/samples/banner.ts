import type { Banner } from '../../../src/domain/customization/banner.ts';

export const plain: Banner = {
  active: true,
  text: 'Hello',
  dismissible: false,
  startTime: '2026-01-01T00:00:00.000Z',
  allPages: true,
};
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
