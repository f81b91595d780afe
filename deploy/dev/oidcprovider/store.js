// Keeps what the provider must know after a restart in one JSON file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

export function openStore(file) {
  const rows = existsSync(file) ? JSON.parse(readFileSync(file)) : {};
  const save = () => writeFileSync(file, JSON.stringify(rows));

  return class Store {
    constructor(model) {
      this.key = (id) => `${model}:${id}`;
    }

    async upsert(id, payload) {
      rows[this.key(id)] = payload;
      save();
    }

    async find(id) {
      return rows[this.key(id)];
    }

    async consume(id) {
      rows[this.key(id)].consumed = Math.floor(Date.now() / 1000);
      save();
    }

    async destroy(id) {
      delete rows[this.key(id)];
      save();
    }

    async revokeByGrantId(grantId) {
      for (const key of Object.keys(rows)) if (rows[key].grantId === grantId) delete rows[key];
      save();
    }
  };
}
