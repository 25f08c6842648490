// The script of the documentation site. It replaces the server URL in examples, highlights the current heading, and
// runs the site search.
(() => {
  // The search ignores these words in a question, because the text of a page with the answer often lacks some of them.
  const commonWords = new Set(
    'a an and are at by can do does for from get how i if in is it my of on or the to what when where which with'.split(
      ' ',
    ),
  );

  // Replaces the example server URL in the text with the URL of this server.
  function nameServer() {
    const texts = document.createTreeWalker(document.querySelector('#content'), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (text.data.includes('http://127.0.0.1:3000')) {
        text.data = text.data.replaceAll('http://127.0.0.1:3000', location.origin);
      }
    }
  }

  function themeReference(chosen) {
    if (!document.querySelector('#reference')) return;
    for (const theme of ['light', 'dark']) document.body.classList.toggle(`${theme}-mode`, theme === chosen);
  }

  // Highlights the current heading in the list of headings.
  function followHeadings() {
    const links = [...document.querySelectorAll('.contents a')];
    const seen = new IntersectionObserver(
      (entries) => {
        const top = entries.find(({ isIntersecting }) => isIntersecting);
        if (top === undefined) return;
        for (const link of links) link.classList.toggle('here', link.hash === `#${top.target.id}`);
      },
      { rootMargin: '-64px 0px -70% 0px' },
    );
    for (const { hash } of links) seen.observe(document.getElementById(decodeURIComponent(hash.slice(1))));
  }

  function addSearch() {
    const dialog = document.querySelector('dialog.search');
    const input = dialog.querySelector('input');
    const list = dialog.querySelector('ul');
    const status = dialog.querySelector('.none');
    const button = document.querySelector('.find');
    let entries;

    async function open() {
      if (dialog.open) return;
      dialog.showModal();
      input.select();
      entries ??= fetch('/docs/search.json').then((answer) => answer.json());
      show(input.value);
    }

    async function show(query) {
      const words = query
        .toLowerCase()
        .split(/[^\p{L}\p{N}_.]+/u)
        .filter(Boolean);
      const rare = words.filter((word) => !commonWords.has(word));
      const { found, isPartial } = search(await entries, rare.length > 0 ? rare : words);
      if (query !== input.value) return;
      list.replaceChildren(...found.map((entry, at) => option(entry, at, words)));
      input.setAttribute('aria-expanded', String(found.length > 0));
      if (words.length === 0) status.textContent = '';
      else if (found.length === 0) status.textContent = 'No results. Try other words.';
      else status.textContent = isPartial ? 'No page has all of these words. These results have some of them.' : '';
      choose(0);
    }

    function choose(at) {
      const options = [...list.children];
      const chosen = options.at(at % (options.length || 1));
      for (const each of options) each.setAttribute('aria-selected', String(each === chosen));
      chosen?.scrollIntoView({ block: 'nearest' });
      if (chosen) input.setAttribute('aria-activedescendant', chosen.id);
      else input.removeAttribute('aria-activedescendant');
    }

    function follow(chosen) {
      dialog.close();
      location.assign(chosen.dataset.href);
    }

    input.addEventListener('input', () => show(input.value));
    input.addEventListener('keydown', (event) => {
      const options = [...list.children];
      const at = options.findIndex((each) => each.getAttribute('aria-selected') === 'true');
      if (event.key === 'ArrowDown') choose(at + 1);
      else if (event.key === 'ArrowUp') choose(at - 1);
      else if (event.key === 'Enter' && options[at]) follow(options[at]);
      else return;
      event.preventDefault();
    });
    list.addEventListener('click', (event) => {
      const chosen = event.target.closest('li');
      if (chosen !== null) follow(chosen);
    });
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) dialog.close();
    });
    button.addEventListener('click', open);
    document.addEventListener(
      'keydown',
      (event) => {
        const typing = event.target.closest?.('input, textarea, select, [contenteditable]');
        const slash = event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
        if (!slash && !(event.key === 'k' && (event.ctrlKey || event.metaKey))) return;
        event.preventDefault();
        event.stopPropagation();
        open();
      },
      true,
    );
    button.hidden = false;
  }

  // Finds the entries that match all search words. A search word also matches the start of a longer word. If no entry
  // matches all words, finds the entries that match at least one word.
  function search(entries, words) {
    const patterns = words.map(toPrefixPattern);
    const matches = entries.map((entry) => ({
      entry,
      weights: patterns.map((pattern) => computeWeight(entry, pattern)),
    }));
    const complete = matches.filter(({ weights }) => weights.every((weight) => weight > 0));
    const isPartial = complete.length === 0;
    // If no entry matches all words, rare words have a higher weight, because common words such as "the" match most
    // entries.
    const rarity = patterns.map((_, at) => {
      const count = matches.filter(({ weights }) => weights[at] > 0).length;
      return isPartial ? Math.log(entries.length / (count || 1)) : 1;
    });
    const computeScore = ({ entry, weights }) => {
      const exact = entry.title.toLowerCase() === words.join(' ') ? 20 : 0;
      const score = weights.reduce((sum, weight, at) => sum + weight * rarity[at], exact);
      return entry.isSecondary ? score / 2 : score;
    };
    const scored = (isPartial ? matches : complete).map((match) => ({
      entry: match.entry,
      score: computeScore(match),
    }));
    const found = scored.filter(({ score }) => score > 0).sort((one, other) => other.score - one.score);
    return { found: found.slice(0, 12).map(({ entry }) => entry), isPartial };
  }

  // Returns the weight of a match. The weight is high in the title and the keywords, medium in `place`, and low in the
  // text.
  function computeWeight({ title, place, text, keywords = '' }, pattern) {
    if (pattern.test(title) || pattern.test(keywords)) return 9;
    if (pattern.test(place)) return 5;
    return pattern.test(text) ? 1 : 0;
  }

  function toPrefixPattern(word) {
    return new RegExp(`(?<![\\p{L}\\p{N}])${word.replaceAll('.', '\\.')}`, 'iu');
  }

  function option({ title, place, href, text }, at, words) {
    const item = document.createElement('li');
    item.id = `found-${at}`;
    item.setAttribute('role', 'option');
    item.dataset.href = href;
    item.append(element('b', title), element('small', place), excerpt(text, words));
    return item;
  }

  function excerpt(text, words) {
    const matches = words.map((word) => text.search(toPrefixPattern(word))).filter((at) => at >= 0);
    const first = matches.length === 0 ? 0 : Math.max(0, Math.min(...matches) - 40);
    const part = element('span', '');
    const shown = (first > 0 ? '… ' : '') + text.slice(first, first + 160);
    const pieces = shown.split(new RegExp(`(${words.map((word) => toPrefixPattern(word).source).join('|')})`, 'iu'));
    part.append(...pieces.map((piece, at) => (at % 2 === 1 ? element('mark', piece) : piece)));
    return part;
  }

  function element(name, text) {
    const created = document.createElement(name);
    created.textContent = text;
    return created;
  }

  // Shows the chosen language in all tabs of code, also on the next pages.
  function followLanguages() {
    const inputs = [...document.querySelectorAll('.tabs input')];
    const show = (language) => {
      for (const input of inputs) if (input.value === language) input.checked = true;
    };
    for (const input of inputs) {
      input.addEventListener('change', () => {
        localStorage.setItem('language', input.value);
        show(input.value);
      });
    }
    show(localStorage.getItem('language'));
  }

  document.addEventListener('DOMContentLoaded', () => {
    followLanguages();
    frame.addThemeButton(themeReference);
    addSearch();
    nameServer();
    frame.addCopyButtons(document);
    followHeadings();
  });
})();
