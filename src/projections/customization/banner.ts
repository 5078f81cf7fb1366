import { type Banner, banner, withChanges } from '../../domain/customization/banner.ts';
import { idOf, projection } from '../engine/define.ts';

/** The banner as `getBanner` shows it. `messageLastUpdated` is the time when its text last changed. */
export const banners = projection<Banner>()(banner, {
  collection: 'banners',
  on: {
    bannerSet: (doc, event) => {
      const next = { ...(withChanges(doc ?? {}, event.data) as Banner), _id: idOf(event) };
      return event.data.changed.text === undefined ? next : { ...next, messageLastUpdated: event.metadata.at };
    },
  },
  sorts: { name: () => 'banner' },
  filters: {},
});
