"""Freshly opened page of the faulty instance, with every response recorded."""
import unittest

import heard
import kept
import watch


class Opened(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene, cls.browser = kept.found(), kept.browser()
        watch.begin(cls.browser)
        cls.enterClassContext(cls.browser.before(heard.SCRIPT))

    def open(self, page):
        self.browser.open("about:blank")
        self.browser.open(self.scene.url + page)
        self.browser.until("the state", "return document.querySelector('#headline .chip')")
